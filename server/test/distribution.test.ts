import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ENDED_REFERENCES, getTablePlace, listPlacedTables } from '../src/distribution/table-places.ts'
import { brokenJoins, brokenRules, readSchema } from './support/distribution-rules.ts'

const SOURCES = new URL('../src/', import.meta.url).pathname
const schema = await readFile(new URL('../schema.sql', import.meta.url), 'utf8')

test('every table can be kept where it belongs on several database servers', () => {
  assert.deepEqual(brokenRules(readSchema(schema)), [])
})

test('every join of rows of organizations names the organization', () => {
  const paths = globSync('**/*.ts', { cwd: SOURCES })
  const sources = paths.map((path) => ({ path, text: readFileSync(join(SOURCES, path), 'utf8') }))
  assert.deepEqual(brokenJoins(readSchema(schema), sources), [])
  const text = '`select from ci_runs run join ci_reports report on report.run_id = run.id`'
  assert.deepEqual(brokenJoins(readSchema(schema), [{ path: 'new.store.ts', text }]), [
    'new.store.ts joins ci_reports without its org_id',
  ])
})

test('the lists of places name only tables that there are', () => {
  const names = new Set(readSchema(schema).tables.map(({ name }) => name))
  // The migrator makes these two; the schema has them only in a migrated database.
  const unknown = [...listPlacedTables(), ...Object.keys(ENDED_REFERENCES)].filter((name) => !names.has(name))
  assert.deepEqual(unknown, [])
})

test('the schema is read in full', () => {
  const { tables, triggers } = readSchema(schema)
  assert.equal(tables.length, schema.match(/^create table /gm)?.length)
  assert.equal(tables.flatMap(({ keys }) => keys).length, schema.match(/PRIMARY KEY|UNIQUE/g)?.length)
  assert.equal(tables.flatMap(({ references }) => references).length, schema.match(/FOREIGN KEY/g)?.length)
  assert.equal(triggers.length, schema.match(/^CREATE TRIGGER /gm)?.length)
  const places = tables.map(({ name, columns }) => getTablePlace(name, columns.includes('org_id')))
  for (const place of ['distributed', 'reference', 'local'] as const) assert.ok(places.includes(place))
})

const BREACHES: Record<string, { sql: string; finds: RegExp }> = {
  'a table without an organization that no list names': {
    sql: 'create table news (\n  id uuid not null\n);',
    finds: /^news is in no list/,
  },
  'an organization that may be absent': {
    sql: 'create table news (\n  org_id uuid,\n  id uuid not null,\n  constraint k PRIMARY KEY (org_id, id)\n);',
    finds: /^news\.org_id may be null/,
  },
  'a primary key without the organization': {
    sql: 'create table news (\n  org_id uuid not null,\n  id uuid not null,\n  constraint k PRIMARY KEY (id)\n);',
    finds: /^The key \(id\) of news does not begin with org_id/,
  },
  'a unique index without the organization': {
    sql: [
      'create table news (\n  org_id uuid not null,\n  id uuid not null,\n  constraint k PRIMARY KEY (org_id, id)\n);',
      'CREATE UNIQUE INDEX one ON public.news USING btree (lower(id), org_id);',
    ].join('\n'),
    finds: /^The key \(lower\(id\), org_id\) of news does not begin with org_id/,
  },
  'a reference that leaves the organization out': {
    sql: 'create table news (\n  org_id uuid not null,\n  constraint f FOREIGN KEY (run_id) REFERENCES ci_runs(id)\n);',
    finds: /^news refers to ci_runs without org_id/,
  },
  'a reference of a local table to a distributed one': {
    sql: 'create table links (\n  org_id uuid,\n  constraint f FOREIGN KEY (org_id, run_id) REFERENCES ci_runs(org_id, id)\n);',
    finds: /^links \(local\) refers to ci_runs \(distributed\)/,
  },
  'a reference to a local table that no list explains': {
    sql: 'create table news (\n  org_id uuid not null,\n  constraint f FOREIGN KEY (key_id) REFERENCES api_keys(id)\n);',
    finds: /^news \(distributed\) refers to api_keys \(local\)/,
  },
  'a trigger on a distributed table': {
    sql: 'CREATE TRIGGER told AFTER UPDATE ON public.ci_runs FOR EACH ROW EXECUTE FUNCTION tell();',
    finds: /^The trigger told on ci_runs/,
  },
}

for (const [breach, { sql, finds }] of Object.entries(BREACHES))
  test(`a migration is refused that brings ${breach}`, () => {
    const broken = brokenRules(readSchema(`${schema}\n${sql}\n`))
    assert.equal(broken.length, 1, broken.join('\n'))
    assert.match(broken[0] ?? '', finds)
  })
