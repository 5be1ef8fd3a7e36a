import { textsOf } from '../../../platform/json/read-value.ts'
import { boundedText, NAME_MAX, VERSION_MAX } from '../../vocabulary/bounded-text.ts'
import { type Rating, severityFields } from '../../vocabulary/severity.ts'
import type { Vulnerability } from '../report/dependency-finding.ts'
import type { ReportTool } from '../report/parsed-report.ts'

/** What a document of either major version contains beside its findings. */
export type SpdxContents = {
  tool: ReportTool
  /** True if the document contains statements about vulnerabilities. */
  hasStatements: boolean
  components: number
  skipped: number
  /** True if the document has more statements than are kept. */
  isIncomplete: boolean
}

const TOOL = /^\s{0,20}tool:/i
const NAME_READ_MAX = NAME_MAX + VERSION_MAX

/** The first tool of `creators` (SPDX 2.3 §6.8), which are texts like `Tool: syft-1.50.0`. */
export function toolOfCreators(creators: unknown): ReportTool {
  return toolOfName(textsOf(creators).find((creator) => TOOL.test(creator.slice(0, 50))) ?? null)
}

/** Name and version of `syft-1.50.0` or `Tool: syft-1.50.0`. Without a name the tool is `SPDX`. */
export function toolOfName(text: string | null): ReportTool {
  const name = text?.slice(0, NAME_READ_MAX).replace(TOOL, '').trim() ?? ''
  const end = name.search(/[-\s]v?\d/)
  if (end <= 0) return { name: boundedText(name, NAME_MAX) ?? 'SPDX', version: null }
  return {
    name: boundedText(name.slice(0, end), NAME_MAX) ?? 'SPDX',
    version: boundedText(name.slice(end + 1).replace(/^v(?=\d)/, ''), VERSION_MAX),
  }
}

type StatedFacts = { summary?: string | null; description?: string | null; url?: string | null; ratings?: Rating[] }

/** A vulnerability about which a document states little more than ids. */
export function namedVulnerability(ids: string[], facts: StatedFacts): Vulnerability {
  return {
    id: ids[0] ?? null,
    ids,
    summary: facts.summary ?? null,
    description: facts.description ?? null,
    url: facts.url ?? null,
    cwes: [],
    severity: severityFields(facts.ratings ?? []),
  }
}
