const EVERY_MS = 30_000;
const VALID_MS = 240_000;

/** Tells the service of alerts as Prometheus does: again and again while they fire, and of their end. */
export interface AlertSender {
  fire(name: string, cluster: string): Promise<void>;
  end(name: string): Promise<void>;
  close(): void;
}

export function createAlertSender(url: string): AlertSender {
  const firing = new Map<string, { readonly cluster: string; readonly startsAt: string }>();
  const tell = async (name: string, endsInMs: number): Promise<void> => {
    const alert = firing.get(name);
    if (alert === undefined) return;
    const { cluster, startsAt } = alert;
    const body = [
      {
        labels: { alertname: name, cluster, severity: 'page' },
        annotations: { summary: `${name} in ${cluster}` },
        startsAt,
        endsAt: new Date(Date.now() + endsInMs).toISOString(),
      },
    ];
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api/v2/alerts`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`alerts were answered ${answer.status}: ${await answer.text()}`);
  };
  const timer = setInterval(() => {
    for (const name of firing.keys()) tell(name, VALID_MS).catch(() => undefined);
  }, EVERY_MS);
  return {
    async fire(name, cluster) {
      firing.set(name, { cluster, startsAt: new Date().toISOString() });
      await tell(name, VALID_MS);
    },
    async end(name) {
      await tell(name, 0);
      firing.delete(name);
    },
    close: () => clearInterval(timer),
  };
}
