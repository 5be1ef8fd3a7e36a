import { importsOf, isJobsWork, resolvePath, type Source } from './source-imports.ts'

/**
 * A folder imports itself and the folders before it (ARCHITECTURE.md, "Strata"). A folder that is
 * not listed belongs to its nearest listed parent: folders of one slice may import each other, but
 * not in a circle, which is a test of its own. `*` stands for any one folder: such siblings do not
 * import each other.
 */
const STRATA = [
  'platform',
  'errors',
  'distribution',
  'audit',
  'organizations',
  'access',
  'repositories',
  'codehosts',
  'codehosts/kit',
  'codehosts/connections',
  'codehosts/deliveries',
  'codehosts/sync',
  'codehosts/hosts/*/*',
  'codehosts/hosts/*',
  'codehosts/hosts',
  'codehosts/setup',
  'ci',
  'security/vocabulary',
  'inventory/components',
  'inventory/versions',
  'inventory/advisories',
  'security/formats/report',
  'security/formats/*',
  'security/formats',
  'inventory',
  'security',
  'compliance',
  'deployments',
  'provenance',
  'inventory/exposure',
  'trends',
  'retention',
  'console-server',
  'backup',
  'demo',
]
const TOP = STRATA.length
/**
 * Types of settings and services, the version of the program, and the facts and addresses of code
 * hosts. Every slice may import them, except platform.
 */
export const GROUND = [
  'config.ts',
  'services.ts',
  'package.json',
  'codehosts/catalogue.ts',
  'repositories/repository-identity.ts',
]

const SQL_TEMPLATE = /\b(?:sql|tx|db)(?:<[^`;]{0,400}>)?\s*`/
const IO_MODULES = /^node:(?:fs|net|http|https|tls|dgram|dns|child_process|worker_threads|cluster)(?:\/|$)/
const WITHOUT_ARGUMENTS_NOW = /new Date\(\s*\)|\bDate\.now\(|\bDate\(\s*\)/

/** Each broken rule as one sentence that starts with the file. */
export function brokenRules(sources: Source[]): string[] {
  return sources.flatMap((source) => [
    ...importsUpward(source),
    ...sqlOutsideStores(source),
    ...impureRule(source),
    ...readsTheTime(source),
    ...meaninglessName(source),
    ...wideComments(source),
    ...asksUnguarded(source),
  ])
}

function importsUpward({ path, text }: Source): string[] {
  return importsOf(text).flatMap((found) => {
    const { specifier, typeOnly } = found
    if (!specifier.startsWith('.') || isJobsWork(path, found)) return []
    const target = resolvePath(path, specifier)
    if (!target.endsWith('.ts') && !target.endsWith('.json')) return [`${path} imports ${specifier} without its ending`]
    if (
      (path === 'config.ts' && !target.startsWith('platform/') && target !== 'codehosts/catalogue.ts') ||
      (path === 'services.ts' && !typeOnly)
    )
      return [`${path} imports ${target}, but every slice imports ${path}`]
    if (path === 'services.ts') return []
    if (GROUND.includes(target) && !path.startsWith('platform/')) return []
    return isAbove(stratumOf(target), stratumOf(path))
      ? [`${path} imports ${target}, which is in a higher stratum`]
      : []
  })
}

/** Throws for a folder without a stratum, because nothing would limit its imports. */
function stratumOf(path: string): Stratum {
  // Routes may use all slices, because only app.ts registers them.
  if (isRoutes(path)) return { at: TOP, folder: null }
  let folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : 'commands'
  if (folder === 'commands' || folder === 'start') return { at: TOP, folder: null }
  while (folder !== '') {
    const at = STRATA.findIndex((pattern) => isPlacedBy(pattern, folder))
    if (at >= 0) return { at, folder: STRATA[at]?.includes('*') ? folder : null }
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))
  }
  throw new Error(`${path} is in a folder without a stratum`)
}

/** `folder`: the folder that a pattern stands for; null in a stratum of one folder. */
type Stratum = { at: number; folder: string | null }

function isAbove(target: Stratum, source: Stratum): boolean {
  return target.at > source.at || (target.at === source.at && target.folder !== source.folder)
}

function isPlacedBy(pattern: string, folder: string): boolean {
  const [parts, names] = [pattern.split('/'), folder.split('/')]
  return parts.length === names.length && parts.every((part, index) => part === '*' || part === names[index])
}

export function isRoutes(path: string): boolean {
  return path.endsWith('.routes.ts') && !path.startsWith('platform/')
}

function sqlOutsideStores({ path, text }: Source): string[] {
  const allowed = path.endsWith('.store.ts') || path.startsWith('platform/db/') || path.startsWith('platform/queue/')
  return !allowed && SQL_TEMPLATE.test(text) ? [`${path} contains SQL, which belongs in a store`] : []
}

/**
 * Parsers, schemas, stores and rules use neither files nor sockets. A rule is a file named by a
 * noun, without a suffix.
 */
function impureRule({ path, text }: Source): string[] {
  if (!path.includes('/') || /^(?:platform|commands|start)\//.test(path)) return []
  const imported = importsOf(text).map(({ specifier }) => specifier)
  const broken = imported.filter((name) => IO_MODULES.test(name) && !mayDoIo(path))
  if (!path.endsWith('.routes.ts')) {
    broken.push(
      ...importsOf(text).flatMap((found) => (found.specifier === 'fastify' && !found.typeOnly ? ['fastify'] : [])),
    )
  }
  if (imported.includes('pg')) broken.push('pg')
  return broken.map((name) => `${path} imports ${name}`)
}

const USE_CASE = /^(?:load|read|fetch|create|update|complete|import|export|open|store|parse|delete|settle)-[a-z-]+\.ts$/

function mayDoIo(path: string): boolean {
  const name = path.split('/').at(-1) as string
  return !path.includes('/formats/') && (name.endsWith('.job.ts') || USE_CASE.test(name))
}

/**
 * Only the clock reads the time. The embedded database is an exception: it measures how long its
 * process takes.
 */
function readsTheTime({ path, text }: Source): string[] {
  if (path === 'platform/clock.ts' || path.startsWith('platform/db/embedded')) return []
  return WITHOUT_ARGUMENTS_NOW.test(text) ? [`${path} reads the time without the clock`] : []
}

function meaninglessName({ path, text }: Source): string[] {
  const broken = /(?:^|\/)(?:index|utils?|helpers?|common|misc)(?:\/|\.ts$)/.test(path)
    ? [`${path} has a name without meaning`]
    : []
  if (/(?:^|\n)export (?:\*|(?:type )?\{[^}]*\}) from /.test(text)) broken.push(`${path} re-exports other files`)
  return broken
}

const COMMENT_COLUMNS_MAX = 100
const COMMENT_LINE = /^\s*(?:\/\/|\/?\*)/

function wideComments({ path, lines }: Source): string[] {
  return lines.flatMap((line, index) => {
    const isWide = line.length > COMMENT_COLUMNS_MAX && COMMENT_LINE.test(line)
    return isWide ? [`${path}:${index + 1} has a comment wider than ${COMMENT_COLUMNS_MAX} columns`] : []
  })
}

const REQUEST = /(?<![.#\w]|async )fetch\(|\bhttps?\.(?:get|request)\(/
/** They ask what the settings or the command line name, which is the operator's, or our own server. */
const OPERATORS_ADDRESSES = [
  'codehosts/hosts/github/app/create-app.ts',
  'codehosts/kit/api-fetch.ts',
  'codehosts/kit/fetch-log-end.ts',
  'commands/doctor-storage.ts',
  'commands/health.ts',
  'compliance/engines/opa-server.ts',
  'demo/world/report-files.ts',
  'security/intel/fetch-intel.job.ts',
]

/** An address that a tenant has chosen is read through `platform/outbound`. */
function asksUnguarded({ path, text }: Source): string[] {
  const isOwn = path === 'platform/outbound/guarded-fetch.ts' || OPERATORS_ADDRESSES.includes(path)
  return !isOwn && REQUEST.test(text) ? [`${path} sends requests without platform/outbound`] : []
}
