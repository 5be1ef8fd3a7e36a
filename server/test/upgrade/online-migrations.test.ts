import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { offlineSteps } from '../support/upgrade/migration-rules.ts'

const MIGRATIONS = new URL('../../migrations/', import.meta.url)

test('no migration after the baseline blocks the readers or writers of a large table', () => {
  const names = readdirSync(MIGRATIONS).filter((name) => name.endsWith('.sql'))
  const broken = names.flatMap((name) => offlineSteps({ name, text: readFileSync(new URL(name, MIGRATIONS), 'utf8') }))
  assert.deepEqual(broken, [], 'see docs/operations/upgrade.md, "Writing migrations"')
})

const OFFLINE = [
  'create index on_x on findings (title);',
  'create unique index on_x on findings (title);',
  'alter table findings alter column title type varchar(10);',
  'alter table findings add column token uuid default gen_random_uuid();',
  'alter table findings add column long boolean generated always as (length(title) > 9) stored;',
  'alter table findings add foreign key (org_id) references organizations (id);',
  'alter table findings add column person uuid references users (id);',
  'alter table findings add constraint x check (title <> $$$$);',
  'alter table findings add constraint x unique (title);',
  'alter table findings alter column title set not null;',
  'update findings set title = id::text;',
  'delete from findings where title is null;',
]

for (const text of OFFLINE)
  test(`refused: ${text}`, () => assert.equal(offlineSteps({ name: '0099_x.sql', text }).length, 1))

const ONLINE = [
  '-- run: statement by statement\ncreate index concurrently if not exists on_x on findings (title);',
  'create table news (id int); create index on news (id);',
  'alter table findings add column note text;',
  'alter table findings add column counted boolean not null default false;',
  'alter table findings add constraint x check (title is not null) not valid;',
  'alter table findings add foreign key (org_id) references organizations (id) not valid;',
  'alter table findings validate constraint x;',
  'alter table organizations add constraint x check (length(name) > 0);',
  '-- run: batches of findings\nupdate findings set title = 1;',
]

for (const text of ONLINE)
  test(`accepted: ${text.split('\n').at(-1)}`, () => assert.deepEqual(offlineSteps({ name: '0099_x.sql', text }), []))
