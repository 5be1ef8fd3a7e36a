import type { ReportTool } from '../parsed-report.ts'

/** What a reader of one major version tells beside the findings. */
export type SpdxResult = {
  tool: ReportTool
  /** True where the document says anything of vulnerabilities. */
  hasStatements: boolean
  components: number
  skipped: number
  /** Something too large was left out that may hold findings. */
  isIncomplete: boolean
}
