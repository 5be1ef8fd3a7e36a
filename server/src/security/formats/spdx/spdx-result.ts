import type { ReportTool } from '../report/parsed-report.ts'

/** What a reader of one major version tells beside the findings. */
export type SpdxResult = {
  tool: ReportTool
  /** True where the document says anything of vulnerabilities. */
  hasStatements: boolean
  components: number
  skipped: number
  /** More is said of vulnerabilities than is kept. */
  isIncomplete: boolean
}
