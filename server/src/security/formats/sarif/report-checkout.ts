import { getMember, toObjects } from '../../../platform/json/read-value.ts'
import { type Checkout, computeCheckout, type KnownRepository, ReportPaths } from '../checkout/checkout.ts'
import type { ReportSource } from '../report/parsed-report.ts'
import { getFileLocation, listDirectories, readArtifactLocation } from './location.ts'
import { type ReadRuns, readResults } from './read-runs.ts'
import type { SarifRun } from './sarif-run.ts'

/**
 * Infers the checkout of a report from the files of all its results, which takes another pass over
 * them, and from the known repository.
 */
export async function readCheckout(
  source: ReportSource,
  report: ReadRuns,
  repository: KnownRepository,
): Promise<Checkout> {
  const paths = new ReportPaths()
  const runs = report.runs.filter((run) => run !== undefined)
  for (const run of runs) for (const file of run.unscannedFiles.values()) paths.add(getFileLocation(run, file).path)
  for await (const { span, elements } of readResults(source, report.spans)) {
    const run = report.runs[span.run]
    if (run !== undefined) for (const { value } of elements) paths.add(readPath(run, value))
    run?.fileLocations.clear()
    if (paths.isFull) break
  }
  const workingDirectories = runs.flatMap((run) => listDirectories(run.workingDirectories))
  const { absolute, relative } = paths
  return computeCheckout([...absolute], {
    name: repository.name,
    paths: [...repository.paths, ...relative],
    workingDirectories,
  })
}

function readPath(run: SarifRun, result: unknown): string | null {
  const [location] = toObjects(getMember(result, 'locations'))
  return getFileLocation(run, readArtifactLocation(getMember(location, 'physicalLocation', 'artifactLocation'))).path
}

const DIRECTORY_SHOWN_MAX = 80

const FIX =
  'If this is wrong, run the tool in the top directory of the repository with relative paths, ' +
  'or state the directory in `originalUriBaseIds`.'

/** What the sender of a report should know of a checkout that is a guess; else null. */
export function explainCheckout({ directories: [directory], isGuess }: Checkout): string | null {
  if (!isGuess) return null
  if (directory === undefined) return `The report has absolute paths without a common directory; they were kept. ${FIX}`
  const shown = directory.length > DIRECTORY_SHOWN_MAX ? `${directory.slice(0, DIRECTORY_SHOWN_MAX)}…` : directory
  return `The report has absolute paths. The prefix ${shown}/ was removed from them, which is a guess. ${FIX}`
}
