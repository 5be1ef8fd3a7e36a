// node server/bench/tracking/collect-line-hashes.ts OWNER__NAME GIT_DIR [DATA_DIR]
// Writes the hashes of the lines that the packed reports flag, for the comparison with GitHub.
// GIT_DIR is the repository's git directory with its history.
import { join } from 'node:path'
import { readFilesAt } from './git-files.ts'
import { LineHashes, lineHashOf } from './line-hash.ts'
import { DATA_DIRECTORY, writePacked } from './packed-data.ts'
import { hashFile, readHistory, type ScanReport } from './tracking-data.ts'

const [repository, gitDirectory, data = DATA_DIRECTORY] = process.argv.slice(2)
if (repository === undefined || gitDirectory === undefined) {
  throw new Error('usage: node collect-line-hashes.ts OWNER__NAME GIT_DIR [DATA_DIR]')
}

for (const { tool, reports } of readHistory({ data, repository, tool: null }, repository).scans) {
  const lines = [...reports].map(([n, report]) => JSON.stringify({ n, hashes: hashesOf(gitDirectory, report) }))
  const size = writePacked(hashFile(join(data, repository), tool), lines.map((line) => `${line}\n`).join(''))
  console.log(`${repository} ${tool}: ${lines.length} reports, ${size} bytes`)
}

function hashesOf(directory: string, { commit, results }: ScanReport): (string | null)[] {
  const paths = [...new Set(results.map(({ path }) => path))].filter((path) => path !== '' && !path.includes('\n'))
  const texts = readFilesAt(directory, commit, paths)
  const files = new Map(texts.map((text, index) => [paths[index], text === null ? null : new LineHashes(text)]))
  return results.map((result) => lineHashOf(result, files.get(result.path) ?? null))
}
