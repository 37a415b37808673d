import { ATTRIBUTE } from '../model/conventions.ts';
import { type Labels, labelsOf } from '../model/labels.ts';

/** The backend's name, else its address as the conventions give it. */
export function hostOf(attributes: Labels): string | undefined {
  const name = attributes.get(ATTRIBUTE.host);
  const address = attributes.get('network.peer.address');
  const port = attributes.get('network.peer.port');
  if (name !== undefined || address === undefined) return name;
  return port === undefined ? address : `${address}:${port}`;
}

export type Pairs = readonly (readonly [string, string | undefined])[];

/** The labels whose values are known. */
export const known = (pairs: Pairs): Labels =>
  labelsOf(pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined));
