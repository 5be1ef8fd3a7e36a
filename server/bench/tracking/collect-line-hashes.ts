// `node server/bench/tracking/collect-line-hashes.ts <directory of git directories> [data]`: writes
// the line hashes of all packed reports, for the comparison with GitHub. Needs the histories as
// git directories at <directory>/<owner>+<name>/repo.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { LineHashes, lineHashOf } from './line-hash.ts'
import { DATA, hashFile, readHistory, repositoriesOf, type ScanReport } from './tracking-data.ts'

const FILE_BYTES_MAX = 256 * 2 ** 20
const WINDOW_BITS = 24

const [gitDirectories, data = DATA] = process.argv.slice(2)
if (gitDirectories === undefined) throw new Error('Name the directory of the git directories')
for (const repository of repositoriesOf({ data, repository: null, tool: null })) {
  const gitDirectory = join(gitDirectories, repository.replace('__', '+'), 'repo')
  for (const { tool, reports } of readHistory({ data, repository, tool: null }, repository).scans) {
    const lines = [...reports].map(([n, report]) => JSON.stringify({ n, hashes: hashesOf(gitDirectory, report) }))
    writeFileSync(hashFile(join(data, repository), tool), pack(`${lines.join('\n')}\n`))
    console.log(`${repository} ${tool}: ${lines.length} reports`)
  }
}

function hashesOf(gitDirectory: string, { commit, results }: ScanReport): (string | null)[] {
  const files = new Map<string, LineHashes | null>()
  return results.map((result) => {
    if (result.path === '') return null
    if (!files.has(result.path)) files.set(result.path, readFile(gitDirectory, commit, result.path))
    return lineHashOf(result, files.get(result.path) ?? null)
  })
}

/** Null if the commit has no such file: some scanners report files that they generate. */
function readFile(gitDirectory: string, commit: string, path: string): LineHashes | null {
  const git = ['--git-dir', gitDirectory, 'show', `${commit}:${path}`]
  try {
    const text = execFileSync('git', git, { maxBuffer: FILE_BYTES_MAX, stdio: ['ignore', 'pipe', 'ignore'] })
    return new LineHashes(text.toString('utf8'))
  } catch {
    return null
  }
}

function pack(text: string): Buffer {
  return brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LARGE_WINDOW]: 1,
      [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS,
    },
  })
}
