import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { HOUR } from '../../src/base/units.ts';
import { loadRules } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/report.ts';
import { createFolder, type Folder, RUNBOOKS, SHIPPED } from './fixture.ts';

describe('mutes in correlation.yaml', () => {
  let folder: Folder;
  beforeEach(() => {
    folder = createFolder().write(RUNBOOKS);
  });
  afterEach(() => folder.remove());

  const load = (text: string) => {
    folder.write({ 'rules/correlation.yaml': text });
    const options = { rulesDir: folder.path('rules'), shippedDir: SHIPPED, runbooksDir: folder.path('runbooks') };
    const { rules, problems } = loadRules(options);
    const report = problems.map((problem) => formatProblem(problem).replaceAll(`${folder.root}/`, ''));
    return { mutes: rules?.mutes, report };
  };
  const intervalsOf = (...fields: string[]) => {
    const rest = 'between: 22:00-06:00, zone: Europe/Berlin, matchers: ["team=edge"]';
    const items = fields.map((field, index) => `  - { name: n${index}, ${field}, ${rest} }\n`).join('');
    return load(`muteIntervals:\n${items}`);
  };

  it('are none in the shipped rules', () => {
    assert.deepEqual(load('settings: { minAlerts: 1 }\n').mutes, { inhibit: [], intervals: [] });
  });

  it('are read with their matchers', () => {
    const { mutes, report } = load(`inhibit:
  - { source: ["alertname=ClusterDown", "severity=page"], target: ['alertname=~"Instance.*"'], equal: [cluster, team] }
muteIntervals:
  - { name: batch, weekdays: [sat, sun], between: 02:00-04:00, zone: UTC, matchers: ["alertname=DiskFull"] }
`);
    assert.deepEqual(report, []);
    const [rule] = mutes?.inhibit ?? [];
    assert.deepEqual([rule?.source.length, rule?.target[0]?.operator, rule?.equal], [2, '=~', ['cluster', 'team']]);
    const [interval] = mutes?.intervals ?? [];
    assert.deepEqual(
      [interval?.name, interval?.weekdays, interval?.from, interval?.to, interval?.zone, interval?.matchers.length],
      ['batch', ['sat', 'sun'], 2 * HOUR, 4 * HOUR, 'UTC', 1],
    );
  });

  it('take days as a range, as a list, or all', () => {
    const { mutes, report } = intervalsOf(
      'weekdays: mon..fri',
      'weekdays: fri..mon',
      'weekdays: [wed, sat..sun]',
      'weekdays: tue',
    );
    assert.deepEqual(report, []);
    assert.deepEqual(
      mutes?.intervals.map(({ weekdays }) => weekdays.join()),
      ['mon,tue,wed,thu,fri', 'mon,fri,sat,sun', 'wed,sat,sun', 'tue'],
    );
    const { mutes: all } = load('muteIntervals: [{ name: a, between: 00:00-24:00, zone: UTC, matchers: ["a=b"] }]\n');
    assert.equal(all?.intervals[0]?.weekdays.length, 7);
  });

  it('are refused where they stand', () => {
    const { mutes, report } = load(`inhibit:
  - { source: ["alertname=A"], target: ['zone=~".*"'], equal: [] }
  - { source: ["alertname"], target: ["a=b"], equal: [cluster] }
muteIntervals:
  - { name: twice, between: 25:00-26:00, zone: UTC, matchers: ["a=b"] }
  - { name: twice, between: 02:00-02:00, zone: Mars/Base, matchers: ['a=~"("'] }
  - { name: days, weekdays: mon..funday, between: 02:00-03:00, zone: UTC, matchers: ["a!=b"] }
`);
    assert.equal(mutes, undefined);
    assert.deepEqual(
      report.map((line) => line.split(' ').slice(0, 2).join(' ')),
      [
        'rules/correlation.yaml:2:40 CONFIG_MATCHER_TOO_WIDE',
        'rules/correlation.yaml:3:16 CONFIG_MATCHER_INVALID',
        'rules/correlation.yaml:5:29 CONFIG_TIMES_INVALID',
        'rules/correlation.yaml:6:13 CONFIG_NAME_TWICE',
        'rules/correlation.yaml:6:29 CONFIG_TIMES_INVALID',
        'rules/correlation.yaml:6:48 CONFIG_ZONE_UNKNOWN',
        'rules/correlation.yaml:6:70 CONFIG_REGEX_INVALID',
        'rules/correlation.yaml:7:29 CONFIG_WEEKDAYS_INVALID',
        'rules/correlation.yaml:7:85 CONFIG_MATCHER_TOO_WIDE',
      ],
    );
  });

  it('need all that a rule rests on', () => {
    const { report } = load('inhibit: [{ source: ["a=b"], target: [] }]\n');
    assert.equal(report.length, 2, report.join('\n'));
  });
});
