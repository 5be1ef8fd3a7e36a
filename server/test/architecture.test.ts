import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { readServerSources, sourceOf } from './house/server-sources.ts'
import { importCycles } from './support/import-cycles.ts'
import { importsOf, resolvePath, type Source } from './support/source-imports.ts'
import { brokenRules, isRoutes } from './support/source-rules.ts'

const MIGRATIONS = new URL('../migrations/', import.meta.url).pathname

const sources = readServerSources()

test('every file keeps the rules of strata and suffixes', () => {
  assert.ok(sources.length > 50)
  assert.deepEqual(brokenRules(sources), [])
})

const ROOT = new URL('../../', import.meta.url).pathname
const PACKAGES = globSync('packages/*/package.json', { cwd: ROOT }).map((path) => dirname(path))

for (const folder of PACKAGES) {
  test(`${folder} imports itself, Node.js, the SDK and packages that it names, and has no circles`, () => {
    const { exports, imports = {}, devDependencies = {} } = readManifest(folder)
    const src = `${ROOT}${folder}/src/`
    const files = globSync('**/*.ts', { cwd: src }).map((path) => sourceOf(path, readFileSync(src + path, 'utf8')))
    const paths = new Set(files.map(({ path }) => path))
    const foreign = files.flatMap(({ path, text }) =>
      importsOf(text).flatMap(({ specifier }) => {
        const isOwn = specifier.startsWith('.') && isWithin(path, specifier) && paths.has(resolvePath(path, specifier))
        const isNamed = Object.hasOwn(devDependencies, packageOf(specifier)) || Object.hasOwn(imports, specifier)
        return isOwn || isNamed || specifier.startsWith('node:') ? [] : [`${path} imports ${specifier}`]
      }),
    )
    assert.deepEqual(foreign, [])
    assert.deepEqual(importCycles(files), [])
    // Packages do not import each other, so that there are no circles among them either.
    const own = Object.keys(devDependencies).filter((name) => name.startsWith('@shiplock/'))
    assert.deepEqual(
      own.filter((name) => name !== '@shiplock/sdk'),
      [],
    )
    for (const path of Object.values<string>(exports)) assert.ok(paths.has(path.replace('./src/', '')), path)
  })
}

test('other workspaces import the packages by name', () => {
  const files = globSync('{server,sdk,cli,action,console}/src/**/*.{ts,tsx}', { cwd: ROOT })
  const imports = files.flatMap((path) => importsOf(readFileSync(ROOT + path, 'utf8')).map((found) => found.specifier))
  for (const name of ['command-line', 'network', 'report-readers', 'verify'])
    assert.ok(imports.some((specifier) => specifier.startsWith(`@shiplock/${name}/`)))
  assert.deepEqual(
    imports.filter((specifier) => specifier.startsWith('.') && specifier.includes('/packages/')),
    [],
  )
})

/** Whether a relative import stays in the folder that the path begins in. */
function isWithin(path: string, specifier: string): boolean {
  return specifier.split('../').length <= path.split('/').length
}

/** The package of an import, such as `@scope/name` of `@scope/name/entry`. */
function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

const CLI = new URL('../../cli/src/', import.meta.url).pathname

test('the program `shiplock` imports nothing of the server, and has no circles', () => {
  const files = globSync('**/*.ts', { cwd: CLI }).map((path) => sourceOf(path, readFileSync(CLI + path, 'utf8')))
  assert.ok(files.length > 20)
  const imported = files.flatMap(({ text }) => importsOf(text).map(({ specifier }) => specifier))
  assert.deepEqual(
    imported.filter((specifier) => specifier.includes('server/')),
    [],
  )
  assert.deepEqual(importCycles(files), [])
})

test('`shiplock verify` uses neither the network nor packages', () => {
  const loaded = loadedBy(['cli/src/main.ts', 'cli/src/commands/verify.ts'])
  assert.ok(loaded.files.size > 30)
  assert.deepEqual([...loaded.others].sort(), ['node:crypto', 'node:fs', 'node:os', 'node:util'])
})

test('the server does not verify its statements with the code of `shiplock verify`', () => {
  const names = sources.flatMap(({ text }) => importsOf(text).map(({ specifier }) => specifier))
  assert.deepEqual(
    names.filter((name) => packageOf(name) === '@shiplock/verify'),
    [],
  )
})

test('verification uses Node.js in one file only, which browsers replace', () => {
  const entries = Object.values<string>(readManifest('packages/verify').exports)
  const paths = entries.map((path) => join('packages/verify', path))
  assert.deepEqual([...loadedBy(paths).others], ['node:crypto'])
  assert.deepEqual([...loadedBy(paths, 'browser').others], [])
})

const SDK = new URL('../../sdk/src/', import.meta.url).pathname

test('the SDK needs openapi-fetch, its aliases for the network alone, Node.js only in its own entry, and has no circles', () => {
  const files = globSync('**/*.ts', { cwd: SDK }).map((path) => sourceOf(path, readFileSync(SDK + path, 'utf8')))
  assert.ok(files.length > 15)
  const foreign = files.flatMap(({ path, text }) =>
    importsOf(text).flatMap(({ specifier }) => (isOfSdk(path, specifier) ? [] : [`${path} imports ${specifier}`])),
  )
  assert.deepEqual(foreign, [])
  assert.deepEqual(importCycles(files), [])
})

function isOfSdk(path: string, specifier: string): boolean {
  if (specifier.startsWith('node:')) return path === 'node.ts' || path.startsWith('node/')
  return (
    Object.hasOwn(readManifest('sdk').imports, specifier) ||
    specifier === 'openapi-fetch' ||
    (specifier.startsWith('.') && !specifier.includes('server/'))
  )
}

const CONSOLE = new URL('../../console/src/', import.meta.url).pathname
/**
 * A folder of the console imports itself and the folders before it. Folders that are not listed are
 * topics, which do not import each other; Home shows something of several.
 */
const CONSOLE_STRATA = [['api'], ['page'], ['actions'], ['list'], ['graph', 'charts'], ['shell'], ['topics'], ['home']]

test('the folders of the console keep their order, share nothing with the server, and have no circles', () => {
  const files = globSync('**/*.{ts,tsx}', { cwd: CONSOLE })
    .filter((path) => !path.endsWith('.test.ts') && path !== 'api/schema.ts')
    .map((path) => sourceOf(path, readFileSync(CONSOLE + path, 'utf8')))
  assert.ok(files.length > 50)
  assert.deepEqual(files.flatMap(brokenConsoleImports), [])
  assert.deepEqual(importCycles(files), [])
})

function brokenConsoleImports({ path, text }: Source): string[] {
  const topic = path.split('/', 1)[0] as string
  // The files at the root put the console together.
  if (!path.includes('/')) return []
  return importsOf(text).flatMap(({ specifier }) => {
    if (!specifier.startsWith('.')) return []
    const target = resolvePath(path, specifier)
    // The editor offers the example policies and the schema of the documentation.
    if (specifier.includes('/docs/policies/')) return []
    const other = target.split('/', 1)[0] as string
    const isAllowed = other === topic || (target.includes('/') && consoleStratum(other) < consoleStratum(topic))
    return isAllowed && !target.startsWith('server/') ? [] : [`${path} imports ${specifier}`]
  })
}

function consoleStratum(folder: string): number {
  const strata = CONSOLE_STRATA.map((folders) => folders.includes(folder))
  return strata.includes(true) ? strata.indexOf(true) : consoleStratum('topics')
}

/**
 * What these files load at start, directly or not, by paths from the root. Other commands of the
 * program load more when they are called. Names of our packages are files of theirs.
 */
function loadedBy(paths: string[], platform: 'browser' | 'default' = 'default') {
  const files = new Set<string>()
  const others = new Set<string>()
  const visit = (path: string) => {
    if (files.has(path)) return
    files.add(path)
    const atStart = readFileSync(ROOT + path, 'utf8').replace(/import\([^)]*\)/g, '')
    for (const { specifier, typeOnly } of importsOf(atStart)) {
      if (typeOnly) continue
      const target = specifier.startsWith('.') ? resolvePath(path, specifier) : resolveName(path, specifier, platform)
      if (target === null) others.add(specifier)
      else if (target.endsWith('.ts')) visit(target)
    }
  }
  for (const path of paths) visit(path)
  return { files, others }
}

/** The file that an export of a package, or an alias of the importing package, stands for. */
function resolveName(from: string, specifier: string, platform: 'browser' | 'default'): string | null {
  const folder = PACKAGES.find(
    (path) => from.startsWith(`${path}/`) || readManifest(path).name === packageOf(specifier),
  )
  if (folder === undefined) return null
  const { name, exports, imports = {} } = readManifest(folder)
  const file = imports[specifier]?.[platform] ?? exports[specifier.replace(name, '.')]
  return file === undefined ? null : join(folder, file)
}

function readManifest(folder: string) {
  return JSON.parse(readFileSync(`${ROOT}${folder}/package.json`, 'utf8'))
}

const BROKEN: [rule: string, path: string, text: string][] = [
  [
    'a slice imports one above it',
    'ci/runs/run.store.ts',
    "import { x } from '../../security/uploads/upload.store.ts'",
  ],
  ['a slice imports a type from above', 'access/actor.ts', "import type { Run } from '../ci/runs/run.schema.ts'"],
  ['an import over several lines', 'audit/a.ts', "import {\n  a,\n  b,\n} from '../ci/runs/run-status.ts'"],
  ['an import at run time', 'audit/a.ts', "const x = await import('../ci/runs/run-status.ts')"],
  [
    "the work of another slice's job",
    'ci/runs/a.job.ts',
    "const run = lazy(async () => (await import('../../security/uploads/b.ts')).b)",
  ],
  [
    'work that is loaded late outside of a job',
    'ci/runs/a.ts',
    "const b = lazy(async () => (await import('../../trends/b.ts')).b)",
  ],
  ['an inner folder imports one above it', 'security/formats/sarif/a.ts', "import { x } from '../../intel/b.ts'"],
  ['a format imports another', 'security/formats/sarif/a.ts', "import { x } from '../csaf/b.ts'"],
  ['a slice imports the root', 'ci/runs/create-run.ts', "import { createApp } from '../../app.ts'"],
  ['a slice imports a command', 'ci/runs/create-run.ts', "import { run } from '../../commands/start.ts'"],
  ['a slice imports a code host', 'codehosts/connections/a.ts', "import { x } from '../hosts/bitbucket/client.ts'"],
  ['a code host imports another', 'codehosts/hosts/azure/a.ts', "import { x } from '../bitbucket/client.ts'"],
  ['a new code host imports another', 'codehosts/hosts/forgejo/a.ts', "import { x } from '../gitlab/client.ts'"],
  ['platform imports a slice', 'platform/http/lists.ts', "import { x } from '../../access/scopes.ts'"],
  ['platform imports the settings', 'platform/log.ts', "import type { Config } from '../config.ts'"],
  ['services is more than types', 'services.ts', "import { SCOPES } from './access/scopes.ts'"],
  ['a relative import without ending', 'ci/runs/create-run.ts', "import { x } from './run-status'"],
  ['SQL in a route', 'ci/runs/run.routes.ts', 'const rows = await services.sql`select 1`'],
  ['typed SQL in a use case', 'ci/runs/create-run.ts', 'await tx<{ a: number }[]>`\n  select 1 as a`'],
  ['the driver in a slice', 'ci/runs/run.store.ts', "import pg from 'pg'"],
  ['files in a rule', 'organizations/plan.ts', "import { readFile } from 'node:fs/promises'"],
  ['sockets in a parser', 'security/formats/sarif/parser.ts', "import { connect } from 'node:net'"],
  ['files in a use case of the formats', 'security/formats/read-report.ts', "import { open } from 'node:fs'"],
  ['HTTP in a use case', 'ci/runs/create-run.ts', "import { fastify } from 'fastify'"],
  ['a time past the clock', 'ci/runs/create-run.ts', 'const now = new Date()'],
  ['the other time past the clock', 'ci/runs/create-run.ts', 'const now = Date.now()'],
  ['a wide comment', 'ci/runs/a.ts', `// ${'wide '.repeat(20)}`],
  ['a drawer', 'ci/runs/utils.ts', ''],
  ['a barrel', 'ci/runs/all.ts', "export { createRun } from './create-run.ts'"],
]

test('no files and no folders import each other in a circle', () => {
  const belowRoutes = sources.filter(({ path }) => !isRoutes(path))
  assert.deepEqual(importCycles(belowRoutes), [])
})

const CIRCLES: [circle: string, Source[]][] = [
  [
    'two files',
    [sourceOf('ci/runs/a.ts', "import { b } from './b.ts'"), sourceOf('ci/runs/b.ts', "import { a } from './a.ts'")],
  ],
  [
    'three folders, by different files',
    [
      sourceOf('ci/runs/a.ts', "import { b } from '../reports/b.ts'"),
      sourceOf('ci/reports/b.ts', "import type { C } from '../artifacts/c.ts'"),
      sourceOf('ci/artifacts/c.ts', "import { d } from '../runs/d.ts'"),
      sourceOf('ci/runs/d.ts', ''),
    ],
  ],
  [
    'a folder and the folder in it',
    [
      sourceOf('deployments/a.ts', "import { b } from './gates/b.ts'"),
      sourceOf('deployments/gates/b.ts', "import { c } from '../c.ts'"),
      sourceOf('deployments/c.ts', ''),
    ],
  ],
]

for (const [circle, files] of CIRCLES) {
  test(`a circle is found: ${circle}`, () => {
    assert.equal(importCycles(files).length, 1)
  })
}

for (const [rule, path, text] of BROKEN) {
  test(`a broken rule is found: ${rule}`, () => {
    assert.equal(brokenRules([sourceOf(path, text)]).length, 1)
  })
}

test('a folder without a stratum is found', () => {
  assert.throws(
    () => brokenRules([sourceOf('billing/a.ts', "import { x } from '../ci/runs/run-status.ts'")]),
    /without a stratum/,
  )
})

test('what the rules allow is not reported', () => {
  const allowed: Source[] = [
    sourceOf('access/api-key.ts', "import type { Environment } from '../config.ts'"),
    sourceOf(
      'ci/runs/run.store.ts',
      "import type { Db } from '../../platform/db/sql.ts'\nconst rows = await db`select 1`",
    ),
    sourceOf('app.ts', "import { runRoutes } from './ci/runs/run.routes.ts'"),
    sourceOf('services.ts', "import type { Plans } from './organizations/plan.ts'"),
    sourceOf('ci/runs/create-run.ts', 'const at = new Date(now)'),
    sourceOf('ci/runs/a.job.ts', "const run = lazy(async () => (await import('../evidence/b.ts')).b)"),
  ]
  assert.deepEqual(brokenRules(allowed), [])
})

/**
 * Looking a key up needs its organization in the same round trip; a run shows the repository that
 * it is linked to; charts count the rows of several slices.
 */
const READS_BESIDE = [
  // Documents belong to uploads, and streams to repositories that reports name.
  'inventory reported_repositories',
  'inventory security_uploads',
  'access organizations',
  'ci repositories',
  // A run is kept and shown as long as its deployment is.
  'ci deployments',
  ...['organizations', 'ci_runs', 'security_issues', 'deployments', 'changes', 'change_commits'].map(
    (table) => `trends ${table}`,
  ),
]

test("a table is touched by its own slice's stores only", () => {
  const tables = globSync('*.sql', { cwd: MIGRATIONS }).flatMap((name) =>
    [...readFileSync(MIGRATIONS + name, 'utf8').matchAll(/create table (?:if not exists )?(\w+)/g)].map(
      (match) => match[1] as string,
    ),
  )
  assert.ok(tables.includes('ci_runs'))
  const broken = tables.flatMap((table) => {
    const uses = `insert into|update|delete from|copy|from|join|using`
    const slices = slicesThat(new RegExp(`\\b(?:${uses})\\s+${table}\\b`))
    const owners = slices.filter((slice) => !READS_BESIDE.includes(`${slice} ${table}`))
    return owners.length > 1 ? [`${table} is touched by ${owners}`] : []
  })
  assert.deepEqual(broken, [])
})

function slicesThat(use: RegExp): string[] {
  const found = sources.filter(({ text }) => use.test(text)).map(({ path }) => path.split('/', 1)[0] as string)
  return [...new Set(found)]
}
