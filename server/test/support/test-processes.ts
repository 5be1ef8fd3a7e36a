import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Their tests need little but the API, which takes a new process longer to load than to test. */
const SHARING = ['server/test/api/', 'server/test/application/']
const ROOT = new URL('../../..', import.meta.url).pathname
/** What a file may leave behind for the next one of its process. */
const OWN_PROCESS = /\b(?:process|globalThis|mock)\./
const FILES_MAX = 8

/** A process of `node --test`: the program that it runs, and the test files that this loads. */
export type TestProcess = { program: string; files: string[] }

/**
 * Writes one program for each process of a run into the directory; `files` are absolute paths.
 * `node --test` starts them in the order of their names, which is that of the files. Files that
 * share a process are suites of it, one after the other, with hooks of their own.
 */
export async function writePrograms(files: string[], directory: string, shares = canShare): Promise<TestProcess[]> {
  const programs = groups(files, shares).map((group, index) => {
    const program = join(directory, `${String(index).padStart(4, '0')}.test.mjs`)
    return { program, files: group }
  })
  for (const { program, files } of programs) await writeFile(program, contents(files))
  return programs
}

function groups(files: string[], shares: typeof canShare): string[][] {
  const sharing = files.filter(shares)
  const alone = files.filter((file) => !sharing.includes(file))
  const shared = Array.from({ length: Math.ceil(sharing.length / FILES_MAX) }, (_, index) =>
    sharing.slice(index * FILES_MAX, (index + 1) * FILES_MAX),
  )
  return [...alone.map((file) => [file]), ...shared]
}

function canShare(file: string): boolean {
  return SHARING.some((folder) => nameOf(file).startsWith(folder)) && !OWN_PROCESS.test(readFileSync(file, 'utf8'))
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
