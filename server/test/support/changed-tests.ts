import { execFileSync } from 'node:child_process'
import { type Mentions, readMentions, usersOf } from './mentioned-files.ts'
import { ROOT } from './run-test-files.ts'

/** What every test may depend on without naming it. */
const EVERYTHING =
  /(?:^|\/)(?:package(?:-lock)?\.json|tsconfig[\w.]*\.json|\.npmrc)$|^(?:launch\.mjs|server\/schema\.sql|server\/test\/(?:run-tests|suites)\.ts)$/
/** Read by people. Those that tests read are named in them. */
const TEXT = /\.(?:md|png|svg)$|^(?:\.gitignore|\.ci\/.*|biome\.json|LICENSE)$/

/**
 * Those of the test files that depend on a file that differs from the revision, by what files import
 * and name. All of them, if something changed of which this is not known. Says which case it is.
 */
export function selectChanged(tests: string[], revision: string): string[] {
  const changed = changedFiles(revision)
  const { files, because } = filesFor(tests, changed, readMentions(ROOT))
  if (because !== null)
    console.error(`${because} changed, on which any test may depend: all ${tests.length} files run.`)
  else
    console.error(`${changed.length} files differ from ${revision}: ${files.length} of ${tests.length} test files run.`)
  return files
}

export function filesFor(
  tests: string[],
  changed: string[],
  mentions: Mentions,
): { files: string[]; because: string | null } {
  const isTest = new Set(tests)
  const selected = new Set<string>()
  for (const path of changed) {
    if (EVERYTHING.test(path)) return { files: tests, because: path }
    const users = usersOf(path, mentions)
    if (users.size === 1 && !mentions.has(path) && !TEXT.test(path)) return { files: tests, because: path }
    for (const user of users) if (isTest.has(user)) selected.add(user)
  }
  return { files: tests.filter((file) => selected.has(file)), because: null }
}

/** Committed, uncommitted and new files, by their paths in the repository. */
function changedFiles(revision: string): string[] {
  const tracked = git('diff', '--name-only', '--no-renames', revision, '--')
  return [...new Set([...tracked, ...git('ls-files', '--others', '--exclude-standard')])]
}

function git(...args: string[]): string[] {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean)
}
