/** One file of server/src: its path from there, and its text without comments. */
export type Source = { path: string; text: string }

/** A folder imports itself and what stands before it (ARCHITECTURE.md, "Strata"). */
const STRATA = [
  'platform',
  'audit',
  'organizations',
  'access',
  'repositories',
  'codehosts',
  'ci',
  'security',
  'compliance',
  'deployments',
  'provenance',
]
const TOP = STRATA.length
/** Settings and the shape of `Services`: types that every slice may name, platform excepted. */
const GROUND = ['config.ts', 'services.ts']

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(type\s)?[^'"`;]*?from\s+'([^']+)'|import\(\s*'([^']+)'|(?:^|\n)import '([^']+)'/g
const SQL_TEMPLATE = /\b(?:sql|tx|db)(?:<[^`;]{0,400}>)?\s*`/
const IO_MODULES = /^node:(?:fs|net|http|https|tls|dgram|dns|child_process|worker_threads|cluster)(?:\/|$)/
const WITHOUT_ARGUMENTS_NOW = /new Date\(\s*\)|\bDate\.now\(|\bDate\(\s*\)/

/** Every broken rule as one sentence that begins with the file. */
export function brokenRules(sources: Source[]): string[] {
  return sources.flatMap((source) => [
    ...importsUpward(source),
    ...sqlOutsideStores(source),
    ...impureRule(source),
    ...readsTheTime(source),
    ...meaninglessName(source),
  ])
}

function importsUpward({ path, text }: Source): string[] {
  return importsOf(text).flatMap(({ specifier, typeOnly }) => {
    if (!specifier.startsWith('.')) return []
    const target = resolvePath(path, specifier)
    if (!target.endsWith('.ts') && !target.endsWith('.json')) return [`${path} imports ${specifier} without its ending`]
    if (path === 'config.ts' || (path === 'services.ts' && !typeOnly))
      return [`${path} imports ${target}: it is ground`]
    if (path === 'services.ts') return []
    if (GROUND.includes(target) && !path.startsWith('platform/')) return []
    return stratumOf(target) > stratumOf(path) ? [`${path} imports ${target}, which stands above it`] : []
  })
}

/** A place that no list names is a mistake of its own: it would stand on top unnoticed. */
function stratumOf(path: string): number {
  const folder = path.includes('/') ? (path.split('/', 1)[0] as string) : 'commands'
  const at = folder === 'commands' ? TOP : STRATA.indexOf(folder)
  if (at < 0) throw new Error(`${path}: the folder ${folder} stands in no stratum`)
  return at
}

function sqlOutsideStores({ path, text }: Source): string[] {
  const allowed = path.endsWith('.store.ts') || path.startsWith('platform/db/') || path.startsWith('platform/queue/')
  return !allowed && SQL_TEMPLATE.test(text) ? [`${path} holds SQL: that belongs into a store`] : []
}

/** Parsers, schemas and stores touch no file and no socket; nor does a rule: a file named by a noun, without suffix. */
function impureRule({ path, text }: Source): string[] {
  if (!path.includes('/') || path.startsWith('platform/') || path.startsWith('commands/')) return []
  const imported = importsOf(text).map(({ specifier }) => specifier)
  const broken = imported.filter((name) => IO_MODULES.test(name) && !mayDoIo(path))
  if (!path.endsWith('.routes.ts') && path !== 'access/authorize.ts') {
    broken.push(
      ...importsOf(text).flatMap((found) => (found.specifier === 'fastify' && !found.typeOnly ? ['fastify'] : [])),
    )
  }
  if (imported.includes('postgres')) broken.push('postgres')
  return broken.map((name) => `${path} imports ${name}`)
}

const USE_CASE = /^(?:load|read|fetch|create|update|complete|import|export|open|store|parse|delete|settle)-[a-z-]+\.ts$/

function mayDoIo(path: string): boolean {
  const name = path.split('/').at(-1) as string
  return !path.includes('/parsers/') && (name.endsWith('.job.ts') || USE_CASE.test(name))
}

/** Only the clock knows what time it is. How long something took on this machine is a measurement, and platform's own. */
function readsTheTime({ path, text }: Source): string[] {
  if (path === 'platform/clock.ts' || path.startsWith('platform/db/embedded')) return []
  return WITHOUT_ARGUMENTS_NOW.test(text) ? [`${path} reads the time past the clock`] : []
}

function meaninglessName({ path, text }: Source): string[] {
  const broken = /(?:^|\/)(?:index|utils?|helpers?|common|misc)(?:\/|\.ts$)/.test(path)
    ? [`${path} has a name that says nothing`]
    : []
  if (/(?:^|\n)export (?:\*|(?:type )?\{[^}]*\}) from /.test(text)) broken.push(`${path} passes exports on: a barrel`)
  return broken
}

function importsOf(text: string): { specifier: string; typeOnly: boolean }[] {
  return [...text.matchAll(IMPORT)].map((match) => ({
    specifier: match[2] ?? match[3] ?? match[4] ?? '',
    typeOnly: match[1] !== undefined,
  }))
}

function resolvePath(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1)
}
