import type { BalancerFacts } from './balancer-record.ts';

/** Resource attributes, of which only the texts matter here. */
export type AttributeTexts = ReadonlyMap<string, { readonly text: string }>;

/** Zone, region, flavour and version as far as a resource says them. */
export function factsOf(resource: AttributeTexts): BalancerFacts {
  const text = (name: string): string | null => resource.get(name)?.text ?? null;
  const isEnvoy = text('telemetry.sdk.name') === 'envoy';
  const sdkVersion = isEnvoy ? text('telemetry.sdk.version') : null;
  return {
    zone: text('cloud.availability_zone'),
    region: text('cloud.region'),
    flavor: text('lb.flavor') ?? (isEnvoy ? 'envoy' : null),
    service: text('service.name'),
    version: text('lb.version') ?? envoyVersion(sdkVersion) ?? text('service.version'),
  };
}

/** Envoy writes `commit/1.37.2/Clean/RELEASE/BoringSSL`. */
function envoyVersion(written: string | null): string | null {
  const parts = written?.split('/') ?? [];
  return parts.find((part) => /^\d+\.\d+/.test(part)) ?? written;
}
