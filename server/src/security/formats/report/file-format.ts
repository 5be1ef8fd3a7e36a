import type { ReadRepository } from './checkout.ts'
import type { ReportSource, ReportSummary } from './parsed-report.ts'
import type { OnFindings } from './report-reading.ts'
import type { OnStatements, VexDocument } from './vex-statement.ts'

/** How a file of a format is recognized, by members in any order. */
type Marks = {
  /** Members that identify the format by their text, or by one of their texts. */
  texts?: readonly [member: string, pattern: RegExp][]
  /** Members at the top of the file that identify the format if they are lists. */
  lists?: readonly string[]
  /** Members that identify a file without another mark, as shapes of `known-scanners.ts`. */
  shapes?: readonly string[]
  /** A member of a file that claims to be of the format but is not, and why it is refused. */
  refusal?: [member: string, message: string]
}

type FileFormat = {
  /** The name of the format in texts: `SARIF`. */
  title: string
  marks: Marks
  /**
   * The other notations of the format, which are not read: what a file is, for the end of a
   * sentence, and a pattern of its beginning in lower case.
   */
  otherNotations?: readonly [description: string, beginning: RegExp][]
}

type ParseReport = (
  source: ReportSource,
  onFindings: OnFindings,
  readRepository: ReadRepository,
) => Promise<ReportSummary>

type ParseVexDocument = (source: ReportSource, onStatements: OnStatements) => Promise<VexDocument>

/** How files of a format of reports are read that only state which findings do not matter. */
type VexNotation = {
  /** Whether a file is one. Throws JsonError if it is not JSON. */
  detect(source: ReportSource): Promise<boolean>
  parse: ParseVexDocument
}

/** A format of reports with findings. Its parser is loaded when the first report is read. */
export type ReportFileFormat = FileFormat & { loadParser(): Promise<ParseReport> }

/** A format of reports of which some files are VEX documents. */
export type MixedFileFormat = ReportFileFormat & { loadVexNotation(): Promise<VexNotation> }

/** A format of documents that state which findings do not matter, and contain no findings. */
export type VexFileFormat = FileFormat & {
  loadParser(): Promise<ParseVexDocument>
}
