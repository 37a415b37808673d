/**
 * Where a balancer of `zone` sends its requests, as a share per zone (adds up to 1).
 *
 * By place everything stays in the zone: balancers of a small zone make it hot. By capacity a zone keeps what fits its
 * share of the capacity, and only the rest spills, to the zones that have more capacity than traffic.
 *
 * @param traffic share of the traffic that enters in each zone; adds up to 1
 * @param capacity share of the usable capacity in each zone; adds up to 1
 */
export function zoneSplit(
  by: 'place' | 'capacity',
  traffic: readonly number[],
  capacity: readonly number[],
  zone: number,
): number[] {
  const own = capacity[zone] ?? 0;
  // Nothing usable at home: everything leaves, in proportion to what the others have.
  if (own <= 0) return [...capacity];
  if (by === 'place') return capacity.map((_, other) => (other === zone ? 1 : 0));
  const entering = traffic[zone] ?? 0;
  const kept = entering <= own ? 1 : own / entering;
  const spare = capacity.map((share, other) => (other === zone ? 0 : Math.max(0, share - (traffic[other] ?? 0))));
  const spareTotal = spare.reduce((sum, share) => sum + share, 0);
  return capacity.map((_, other) => {
    if (other === zone) return spareTotal > 0 ? kept : 1;
    return spareTotal > 0 ? ((1 - kept) * (spare[other] ?? 0)) / spareTotal : 0;
  });
}
