/** The certificate's key. */
export const KEY_TYPES = ['rsa-2048', 'ecdsa-p256'] as const;
export type KeyType = (typeof KEY_TYPES)[number];

/**
 * CPU time of a balancer, s. An RSA-2048 full handshake costs about 10 times an ECDSA P-256 one. Absolute values are
 * ours: 1 ms for an RSA-2048 signature with its key exchange is what one core of a common server does.
 */
const FULL_S: Readonly<Record<KeyType, number>> = { 'rsa-2048': 1e-3, 'ecdsa-p256': 1e-4 };
/** Resumed: no signature, but still a key exchange. */
const RESUMED_S = 8e-5;
/** Accepting and setting up any connection. */
export const CONNECTION_CPU_S = 4e-5;
/** Forwarding one request. */
export const REQUEST_CPU_S = 1.2e-4;

export type HandshakeKind = 'full' | 'resumed';

/** CPU time of one handshake without the connection's own share, s. */
export const handshakeCpuS = (kind: HandshakeKind, key: KeyType): number => (kind === 'full' ? FULL_S[key] : RESUMED_S);

/**
 * Round trips before a client's first request can leave: one for TCP and one for TLS 1.3, full or resumed. At 80 ms
 * each a new client waits 160 ms.
 */
export const ROUND_TRIPS_TCP = 1;
export const ROUND_TRIPS_TLS = 1;

/** Time on the network before the first request of a new connection, s. */
export const setupRoundTripsS = (roundTripS: number): number => (ROUND_TRIPS_TCP + ROUND_TRIPS_TLS) * roundTripS;
