// `node server/bench/tracking/collect-line-hashes.ts <directory of git directories> [data]`: writes
// the line hashes of all packed reports, for the comparison with GitHub. Needs the histories as
// git directories at <directory>/<owner>+<name>/repo.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { LineHashes, lineHashOf } from './line-hash.ts'
import { DATA, hashFile, readHistory, repositoriesOf, type ScanReport } from './tracking-data.ts'

const BYTES_MAX = 2 ** 30
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
  const paths = [...new Set(results.map(({ path }) => path))].filter((path) => path !== '' && !path.includes('\n'))
  const files = new Map(readFiles(gitDirectory, commit, paths).map((text, index) => [paths[index], text]))
  const hashes = new Map([...files].map(([path, text]) => [path, text === null ? null : new LineHashes(text)]))
  return results.map((result) => lineHashOf(result, hashes.get(result.path) ?? null))
}

/** Null for paths that the commit does not have: some scanners report files that they generate. */
function readFiles(gitDirectory: string, commit: string, paths: readonly string[]): (string | null)[] {
  const input = paths.map((path) => `${commit}:${path}\n`).join('')
  const output = execFileSync('git', ['--git-dir', gitDirectory, 'cat-file', '--batch'], {
    input,
    maxBuffer: BYTES_MAX,
  })
  let at = 0
  return paths.map(() => {
    const start = output.indexOf('\n', at) + 1
    const header = output.toString('utf8', at, start)
    const size = / blob (\d+)\n$/.exec(header)?.[1]
    at = start
    if (size === undefined) return null
    at += Number(size) + 1
    return output.toString('utf8', start, start + Number(size))
  })
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
