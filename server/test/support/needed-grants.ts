import { globSync, readFileSync } from 'node:fs'

const SOURCES = new URL('../../src/', import.meta.url)
const SCHEMA = new URL('../../schema.sql', import.meta.url)
export const ROLES = new URL('../../../deploy/postgres/roles.sql', import.meta.url)

/** Only the owner runs these: they delete whole organizations, or migrate. */
const OF_OWNER =
  /^(?:organizations\/organization-rows\.store|access\/example-person\.store|platform\/db\/migrations\/|demo\/)/
/** Retention runs in workers, whose role may delete every expired row. */
const OF_RETENTION = /(?:^|\/)(?:expired|expiring)-[a-z-]+(?:\.store)?\.ts$|\/remove-[a-z-]+-files\.ts$/
/** Statements whose table is not in their text. */
const DYNAMIC: Record<string, string> = {
  'access/credential.store.ts': 'update api_keys update oidc_trusts',
  'security/intel/intel-source.store.ts':
    'insert into intel_kev delete from intel_kev update intel_kev insert into intel_epss delete from intel_epss update intel_epss',
}
/** Rows of these tables are final, except in these columns. */
const COLUMNS: Record<string, string> = {
  chain_links: 'body, tombstone, mac',
  log_checkpoints: 'mac',
  log_entries: 'leaf_index, mac',
  signing_keys: 'retired_at, mac',
  statements: 'mac',
}
const VERBS = ['insert', 'update', 'delete'] as const
type Verb = (typeof VERBS)[number]

const NAME = '([a-z_]+)\\b'
const INSERT = new RegExp(`insert into ${NAME}((?:(?!insert into )[\\s\\S]){0,3000})`, 'g')
const UPDATE = new RegExp(`\\bupdate ${NAME}`, 'g')
const DELETE = new RegExp(`delete from ${NAME}`, 'g')
const COPY = new RegExp(`openCopy\\(\\w+, '${NAME}'`, 'g')
const LOCKS_ROWS = /\bfor (?:no key )?(?:update|share)\b/
const READ = new RegExp(`(?:from|join) ${NAME}`, 'g')

/** The lines of roles.sql: what the code writes to each table besides reading it. */
export function neededGrants(): string[] {
  const known = new Set(
    [...readFileSync(SCHEMA, 'utf8').matchAll(/^create (?:unlogged )?table (\w+)/gm)].map(([, name]) => name),
  )
  const needed = new Map<string, Set<Verb>>()
  for (const { table, verb } of listSources().flatMap(writesOf)) {
    if (!known.has(table)) continue
    const verbs = needed.get(table) ?? new Set()
    needed.set(table, verbs.add(verb))
  }
  const lines = [...needed]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([table, verbs]) => `('${table}', '${toText(table, verbs)}')`)
  return lines.map((line, at) => `      ${line}${at < lines.length - 1 ? ',' : ''}`)
}

function toText(table: string, verbs: Set<Verb>): string {
  const columns = COLUMNS[table]
  return VERBS.filter((verb) => verbs.has(verb))
    .map((verb) => (verb === 'update' && columns ? `update (${columns})` : verb))
    .join(', ')
}

function listSources(): string[] {
  return globSync('**/*.ts', { cwd: SOURCES.pathname })
    .filter((path) => !path.endsWith('.test.ts') && !OF_OWNER.test(path) && !OF_RETENTION.test(path))
    .sort()
    .map((path) => `${readFileSync(new URL(path, SOURCES), 'utf8')}\n${DYNAMIC[path] ?? ''}`)
}

/**
 * A row that is locked needs the privilege to update it (PostgreSQL, "SELECT", "The Locking
 * Clause").
 */
function writesOf(text: string): { table: string; verb: Verb }[] {
  const of = (pattern: RegExp, verb: Verb) => [...text.matchAll(pattern)].map(([, table = '']) => ({ table, verb }))
  const upserts = [...text.matchAll(INSERT)].filter(([, , rest = '']) => /on conflict[\s\S]*do update/.test(rest))
  return [
    ...of(INSERT, 'insert'),
    ...of(COPY, 'insert'),
    ...upserts.map(([, table = '']) => ({ table, verb: 'update' as const })),
    ...of(UPDATE, 'update'),
    ...(LOCKS_ROWS.test(text) ? of(READ, 'update') : []),
    ...of(DELETE, 'delete'),
  ]
}

const MARKED = /( {6}-- BEGIN\n)[\s\S]*?( {6}-- END\n)/

/** The text of roles.sql with these lines. */
export function withGrants(text: string, lines: string[]): string {
  return text.replace(MARKED, (_, begin, end) => `${begin}${lines.join('\n')}\n${end}`)
}
