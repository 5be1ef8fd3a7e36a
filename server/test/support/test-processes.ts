import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, matchesGlob, relative } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Which files share processes, and how many of them one takes. What they test takes a
 * new process longer to load than to test.
 */
const FILES_MAX: Record<string, number> = {
  'server/test/journeys/**': 6,
  'server/test/provenance/**': 6,
  'server/test/retention/**': 6,
  'server/test/sign-in/**': 6,
  'server/test/oidc/**': 6,
  'server/test/provider-runs/**': 6,
  'server/test/ingest/**': 6,
  'server/test/objects/**': 6,
  'server/test/api/**': 12,
  'server/test/bench/**': 50,
  'server/test/*': 5,
  'server/src/**': 50,
  'console/src/**': 50,
}
const ROOT = new URL('../../..', import.meta.url).pathname
/** What a file may leave behind for the next one of its process; what it only reads is not. */
const OWN_PROCESS = /\b(?:process\.(?!execPath|cpuUsage)|globalThis\.|mock\.)/

/** A process of `node --test`: the program that it runs, and the test files that this loads. */
export type TestProcess = { program: string; files: string[] }

/**
 * Writes one program for each process of a run into the directory; `files` are absolute paths.
 * `node --test` starts them in the order of their names, which is that of the files. Files that
 * share a process are suites of it, one after the other, with hooks of their own.
 */
export async function writePrograms(files: string[], directory: string, shares = folderOf): Promise<TestProcess[]> {
  const programs = groups(files, shares).map((group, index) => {
    const program = join(directory, `${String(index).padStart(4, '0')}.test.mjs`)
    return { program, files: group }
  })
  for (const { program, files } of programs) await writeFile(program, contents(files))
  return programs
}

function groups(files: string[], shares: typeof folderOf): string[][] {
  const { '': alone = [], ...folders } = Object.groupBy(files, (file) => shares(file) ?? '')
  const shared = Object.entries(folders).flatMap(([folder, inFolder = []]) =>
    inGroups(inFolder, FILES_MAX[folder] ?? inFolder.length),
  )
  return [...alone.map((file) => [file]), ...shared]
}

function inGroups(files: string[], max: number): string[][] {
  const count = Math.ceil(files.length / max)
  return Array.from({ length: count }, (_, index) => files.slice(index * max, (index + 1) * max))
}

/** The folder whose files a file shares a process with; null if it needs one of its own. */
function folderOf(file: string): string | null {
  const folder = Object.keys(FILES_MAX).find((files) => matchesGlob(nameOf(file), files)) ?? null
  return folder !== null && OWN_PROCESS.test(readFileSync(file, 'utf8')) ? null : folder
}

const nameOf = (file: string) => relative(ROOT, file)

function contents(files: string[]): string {
  const urls = files.map((file) => JSON.stringify(pathToFileURL(file).href))
  if (files.length === 1) return `await import(${urls[0]})\n`
  const names = files.map((file) => JSON.stringify(nameOf(file)))
  const loads = urls.map((url, index) => `await load(${names[index]}, () => import(${url}))\n`)
  return `${LOAD}${loads.join('')}`
}

/** One after the other: what two files define while both are loaded becomes part of one suite. */
const LOAD = `import { suite } from 'node:test'
function load(name, file) {
  const { promise, resolve } = Promise.withResolvers()
  suite(name, () => file().finally(resolve))
  return promise
}
`

/**
 * The test files of a failure: all of a process if it ended, one if only that cannot be loaded.
 */
export function testFilesOf(failed: { file: string; name: string }, processes: readonly TestProcess[]): string[] {
  const { files = [failed.file] } = processes.find(({ program }) => program === failed.file) ?? {}
  const suite = files.find((file) => nameOf(file) === failed.name)
  return suite === undefined ? files : [suite]
}
