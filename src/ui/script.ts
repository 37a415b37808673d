/**
 * What a browser adds where it runs scripts: the page of what is open is renewed when something has changed, new pages
 * are spoken of, and times are told in the reader's zone too. Everything works without.
 */
export const SCRIPT = `'use strict';
(() => {
  const zoned = new Intl.DateTimeFormat(undefined,
    { weekday: 'short', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' });
  const isUtc = new Date().getTimezoneOffset() === 0;
  const tellTimes = (root) => {
    if (isUtc) return;
    for (const one of root.querySelectorAll('time[datetime]')) {
      const at = new Date(one.getAttribute('datetime'));
      if (!Number.isNaN(at.getTime())) one.append(' (' + zoned.format(at) + ')');
    }
  };
  tellTimes(document);
  const live = document.querySelector('[data-live]');
  if (live === null || typeof EventSource === 'undefined') return;
  const said = document.getElementById('said');
  const titles = () => new Map([...document.querySelectorAll('[data-incident]')].map((one) =>
    [one.dataset.incident + one.dataset.severity, one]));
  const isBusy = () => {
    const focused = document.activeElement;
    return focused !== null && focused !== document.body && ['INPUT', 'SELECT', 'TEXTAREA'].includes(focused.tagName);
  };
  let before = titles();
  let wanted = false;
  let running = false;
  const renew = async () => {
    wanted = true;
    if (running) return;
    running = true;
    try {
      while (wanted) {
        wanted = false;
        if (isBusy()) { setTimeout(renew, 2000); return; }
        const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
        if (!answer.ok) return;
        const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
        const place = document.querySelector('[data-live]');
        const fresh = next.querySelector('[data-live]');
        if (place === null || fresh === null) return;
        const focused = document.activeElement === null ? null : document.activeElement.getAttribute('href');
        place.replaceWith(document.adoptNode(fresh));
        tellTimes(fresh);
        if (focused !== null) {
          const again = [...fresh.querySelectorAll('a')].find((one) => one.getAttribute('href') === focused);
          if (again !== undefined) again.focus({ preventScroll: true });
        }
        const foot = document.querySelector('footer p');
        const nextFoot = next.querySelector('footer p');
        if (foot !== null && nextFoot !== null) {
          foot.replaceWith(document.adoptNode(nextFoot));
          tellTimes(nextFoot);
        }
        speak();
      }
    } catch { /* The service is away; the event source tries again. */ } finally { running = false; }
  };
  const speak = () => {
    const now = titles();
    const fresh = [...now].filter(([key]) => !before.has(key)).map(([, one]) => one);
    before = now;
    if (said === null || fresh.length === 0) return;
    const isPage = fresh.some((one) => one.dataset.severity === 'page');
    said.setAttribute('aria-live', isPage ? 'assertive' : 'polite');
    said.textContent = fresh.slice(0, 3)
      .map((one) => one.dataset.severity + ': ' + one.querySelector('h3').textContent).join('; ');
  };
  const events = new EventSource('/api/v1/events');
  events.addEventListener('incidents', (event) => {
    const place = document.querySelector('[data-live]');
    if (place !== null && place.dataset.live !== event.lastEventId) void renew();
  });
  addEventListener('pagehide', () => events.close());
  setInterval(() => { if (document.visibilityState === 'visible') void renew(); }, 60000);
})();
`;
