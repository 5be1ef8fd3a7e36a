// Runs a suite of suites.ts: `npm test`, `npm run test:stories`, …, with
//   <part of a path> …   only the files with one of them in their paths
//   --changed[=REV]      only the files that depend on what differs from HEAD, or from a revision
// Other arguments that begin with a dash go to `node --test` as they are (--test-name-pattern=…).
import { globSync } from 'node:fs'
import { SUITES, type Suite } from './suites.ts'
import { selectChanged } from './support/changed-tests.ts'
import { ROOT, runTestFiles } from './support/run-test-files.ts'

const [name = '', ...args] = process.argv.slice(2)
process.exitCode = await run(args)

async function run(args: string[]): Promise<number> {
  const suite = SUITES[name]
  if (suite === undefined) return refuse(`there is no suite ${name}`)
  const flags = args.filter((argument) => argument.startsWith('-') && !isChanged(argument))
  const parts = args.filter((argument) => !argument.startsWith('-'))
  const changed = args.find(isChanged)
  const ofSuite = withParts(suite, parts)
  if (ofSuite.length === 0) return refuse(`no test file has ${parts.join(' or ')} in its path${elsewhere(parts)}`)
  const files = changed === undefined ? ofSuite : selectChanged(ofSuite, changed.split('=')[1] ?? 'HEAD')
  return files.length === 0 ? 0 : runPrepared(suite, files, flags)
}

async function runPrepared({ prepare, isSerial }: Suite, files: string[], flags: string[]): Promise<number> {
  const serial = isSerial ? ['--test-concurrency=1'] : []
  const prepared = prepare === undefined ? {} : await prepare().catch((error: Error) => error)
  if (prepared instanceof Error) return refuse(prepared.message)
  try {
    return await runTestFiles(files, {
      flags: [...serial, ...flags],
      env: prepared.env ?? {},
      startServer: prepared.startServer,
    })
  } finally {
    await prepared.close?.()
  }
}

function withParts({ include, exclude }: Suite, parts: string[]): string[] {
  const files = globSync(include, { cwd: ROOT, exclude })
  return parts.length === 0 ? files : files.filter((file) => parts.some((part) => file.includes(part)))
}

/** The commands that run files with these words in their paths. */
function elsewhere(parts: string[]): string {
  const found = Object.keys(SUITES).filter((other) => withParts(SUITES[other] as Suite, parts).length > 0)
  const commands = found.map((other) => (other === 'all' ? 'npm test' : `npm run test:${other}`))
  return commands.length === 0 ? '' : `; see ${commands.join(', ')}`
}

function isChanged(argument: string): boolean {
  return argument === '--changed' || argument.startsWith('--changed=')
}

function refuse(message: string): number {
  console.error(message)
  return 1
}
