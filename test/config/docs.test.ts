import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { formatDuration } from '../../src/base/duration.ts';
import { ms } from '../../src/base/units.ts';
import { DETECTOR_THRESHOLDS } from '../../src/config/detector-thresholds.ts';
import { loadRules, loadServiceConfig } from '../../src/config/load.ts';
import { SloSchema } from '../../src/config/openslo-schema.ts';
import {
  CorrelationSchema,
  DetectorsSchema,
  RoutesSchema,
  ServiceSchema,
  TiersSchema,
} from '../../src/config/schema.ts';
import { CHECKOUT, createFolder, PACKAGE, RUNBOOKS, SHIPPED } from './fixture.ts';

const DOCUMENT = readFileSync(path.join(PACKAGE, 'docs/config.md'), 'utf8');

/** Every property name below a schema. */
function keysOf(schema: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof schema !== 'object' || schema === null) return found;
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties') for (const name of Object.keys(value as object)) found.add(name);
    keysOf(value, found);
  }
  return found;
}

/** The text of one part of the document, from its heading to the next of the same or a higher level. */
function sectionOf(heading: string): string {
  const start = DOCUMENT.indexOf(`\n${heading}\n`);
  assert.ok(start >= 0, heading);
  const level = heading.indexOf(' ');
  const rest = DOCUMENT.slice(start + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${level}} `, 'm'));
  return end < 0 ? rest : rest.slice(0, end);
}

describe('docs/config.md', () => {
  for (const [heading, schema] of [
    ['## slowburn.yaml', ServiceSchema],
    ['### SLO files', SloSchema],
    ['### tiers.yaml', TiersSchema],
    ['### detectors.yaml', DetectorsSchema],
    ['### correlation.yaml', CorrelationSchema],
    ['### routes.yaml', RoutesSchema],
  ] as const) {
    it(`names every key under ${heading}`, () => {
      const keys = keysOf(schema);
      assert.ok(keys.size > 3);
      // Receivers are described once, with slowburn.yaml.
      const text =
        heading === '### routes.yaml' ? sectionOf(heading) + sectionOf('## slowburn.yaml') : sectionOf(heading);
      for (const key of keys) {
        assert.match(text, new RegExp(`(^|[^A-Za-z])${key}([^A-Za-z]|$)`, 'm'), `${key} is missing under ${heading}`);
      }
    });
  }

  it('shows examples that load', () => {
    const folder = createFolder().write(RUNBOOKS);
    try {
      const example = (heading: string): string => /```yaml\n(.*?)```/s.exec(sectionOf(heading))?.[1] ?? '';
      const service = example('## slowburn.yaml').replace('/run/secrets/push', folder.path('secret'));
      folder.write({
        'slowburn.yaml': service,
        secret: 'x',
        'rules/slos/a.yaml': example('### SLO files'),
        'rules/tiers.yaml': example('### tiers.yaml'),
        'rules/detectors.yaml': example('### detectors.yaml'),
        'rules/correlation.yaml': example('### correlation.yaml'),
        'rules/routes.yaml': example('### routes.yaml'),
      });
      assert.equal(example('### SLO files'), CHECKOUT);
      const config = loadServiceConfig({
        configPath: folder.path('slowburn.yaml'),
        env: { HOOK_KEY: 'x' },
        cwd: folder.root,
        packageDir: PACKAGE,
      });
      assert.ok(config.ok, JSON.stringify(config));
      const { receivers, rulesDir, runbooksDir } = config.value;
      const { problems } = loadRules({ rulesDir, shippedDir: SHIPPED, runbooksDir, receivers });
      assert.deepEqual(problems, []);
    } finally {
      folder.remove();
    }
  });

  it('gives the shipped default of every threshold', () => {
    const { rules } = loadRules({ rulesDir: null, shippedDir: SHIPPED, runbooksDir: path.join(PACKAGE, 'runbooks') });
    const lines = sectionOf('### detectors.yaml').split('\n');
    for (const [name, keys] of Object.entries(DETECTOR_THRESHOLDS)) {
      const first = lines.findIndex((line) => line.startsWith(`| \`${name}\``));
      for (const [index, [key, { kind }]] of Object.entries(keys).entries()) {
        const value = rules?.detectors.get(name)?.thresholds[key] ?? Number.NaN;
        const cells = (lines[first + index] ?? '').split('|').map((cell) => cell.trim());
        assert.equal(cells[2], `\`${key}\``);
        const written = cells[3]?.replace('60s', '1m');
        assert.equal(written, kind === 'duration' ? formatDuration(ms(value)) : String(value), `${name}.${key}`);
      }
    }
  });

  it('gives the shipped default of every correlation setting', () => {
    const { rules } = loadRules({ rulesDir: null, shippedDir: SHIPPED, runbooksDir: path.join(PACKAGE, 'runbooks') });
    assert.ok(rules !== null);
    const { causes: _, subjects: __, minAlerts, replicaLabels, ignoreLabels, storm, ...durations } = rules.correlation;
    const text = sectionOf('### correlation.yaml');
    for (const [key, value] of Object.entries(durations)) {
      const written = /^1d$/.test(formatDuration(value)) ? '24h' : formatDuration(value);
      assert.ok(text.includes(`| \`settings.${key}\` | ${written} |`), key);
    }
    assert.ok(text.includes(`| \`settings.minAlerts\` | ${minAlerts} |`));
    for (const [key, labels] of Object.entries({ replicaLabels, ignoreLabels })) {
      const written = labels.map((label) => `\`${label}\``).join(', ');
      assert.ok(text.includes(`| \`settings.${key}\` | ${written} |`), key);
    }
    assert.ok(text.includes(`| \`storm.clusters\` | ${storm.clusters} |`));
    assert.ok(text.includes(`| \`storm.share\` | ${storm.share} |`));
    assert.ok(text.includes(`| \`storm.within\` | ${storm.within / 1000}s |`));
  });
});
