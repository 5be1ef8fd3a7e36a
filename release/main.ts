// Makes the files of a release: `npm run release -- --version 1.2.3 [--out DIRECTORY] [--snapshot]`.
// The same commit gives the same bytes.
import { parseArgs } from 'node:util'
import { checkTree } from './check-tree.ts'
import { makeRelease } from './make-release.ts'

const USAGE = `usage: npm run release -- --version VERSION [--out DIRECTORY] [--snapshot]

Writes the tarballs of server and command line, an archive of deploy/, an SBOM of each package (CycloneDX),
the notes of the version from CHANGELOG.md, and SHA256SUMS.

  --version VERSION   the version; every package of the repository must have it
  --out DIRECTORY     where to write; dist/release without it. It is emptied
  --snapshot          a trial: uncommitted changes are allowed, and the notes are those of "Unreleased"
`

process.exitCode = await run()

async function run(): Promise<number> {
  const given = readArguments()
  if (given === null) return 2
  if (given.help) return say(USAGE, 0)
  try {
    const mistakes = checkTree(given.version, given.snapshot)
    if (mistakes.length > 0) return say(`${mistakes.join('\n')}\n`, 1)
    const files = makeRelease(given)
    return say(`Wrote ${files.length} files to ${given.out}:\n${files.map((file) => `  ${file}\n`).join('')}`, 0)
  } catch (error) {
    return say(`${(error as Error).message}\n`, 1)
  }
}

function readArguments() {
  const options = { version: { type: 'string' }, out: { type: 'string' } } as const
  const flags = { snapshot: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const
  try {
    const { values } = parseArgs({ options: { ...options, ...flags } })
    const { version = '', out = 'dist/release', snapshot = false, help = false } = values
    if (!help && !/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version)) throw new Error('--version must be like 1.2.3')
    return { version, out, snapshot, help }
  } catch (error) {
    say(`${(error as Error).message}; see npm run release -- --help\n`, 2)
    return null
  }
}

function say(text: string, code: number): number {
  process.stderr.write(text)
  return code
}
