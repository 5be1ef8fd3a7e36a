// node server/bench/tracking/collect-line-maps.ts OWNER__NAME GIT_DIR
// Writes the line maps between the commits of a repository, for the files with findings in its
// packed reports. GIT_DIR is the repository's git directory with its history.
import { join } from 'node:path'
import { mapStep, type StepMap } from './line-map.ts'
import { DATA_DIRECTORY, type PackedReport, readPackedReports, readSource, writePacked } from './packed-data.ts'

const [repository, gitDirectory] = process.argv.slice(2)
if (repository === undefined || gitDirectory === undefined) {
  throw new Error('usage: node collect-line-maps.ts OWNER__NAME GIT_DIR')
}

const { commits, checkout } = readSource(repository)
const paths = pathsByCommit(readPackedReports(repository))
const steps = commits.slice(1).map((to, at) => {
  const from = commits[at] ?? ''
  const map = mapStep(gitDirectory, { from, to, oldPaths: pathsAt(from), newPaths: pathsAt(to) })
  console.log(`${repository} ${at} ${describe(map)}`)
  return map
})
const size = writePacked(join(DATA_DIRECTORY, repository, 'lines.json.br'), JSON.stringify({ commits, steps }))
console.log(`${repository} lines.json.br ${size} bytes`)

function pathsAt(commit: string): Set<string> {
  return paths.get(commit) ?? new Set()
}

function pathsByCommit(reports: PackedReport[]): Map<string, Set<string>> {
  const byCommit = new Map<string, Set<string>>(commits.map((commit) => [commit, new Set()]))
  for (const { commit, sarif } of reports) {
    const uris = sarif.runs.flatMap((run) => run.results ?? []).flatMap((result) => result.locations ?? [])
    for (const { physicalLocation } of uris) {
      const uri = physicalLocation?.artifactLocation?.uri
      if (uri !== undefined) byCommit.get(commit)?.add(relativePath(uri))
    }
  }
  return byCommit
}

function relativePath(uri: string): string {
  const path = decodeURI(uri).replace(/^file:\/\/\/?(?=[A-Z]:)|^file:\/\//, '')
  return (path.startsWith(`${checkout}/`) ? path.slice(checkout.length + 1) : path).replace(/^\.\//, '')
}

function describe({ files }: StepMap): string {
  const maps = Object.values(files)
  const lines = (runs: (number | string)[][], at: number) => runs.reduce((sum, run) => sum + Number(run[at]), 0)
  const total = (of: (map: (typeof maps)[number]) => number) => maps.reduce((sum, map) => sum + of(map), 0)
  return [
    `files ${maps.length}`,
    `edited ${total(({ edited }) => edited.length)}`,
    `moved ${total(({ moved }) => lines(moved, 2))}`,
    `unsure ${total(({ unsure }) => lines(unsure, 1))}`,
  ].join(', ')
}
