import type { FindingKind } from '../../vocabulary/finding-kind.ts'
import { Memo } from '../report/memo.ts'
import type { ReportTool } from '../report/parsed-report.ts'
import type { ArtifactPlace } from './artifact-path.ts'
import type { DescriptorReference } from './component-reference.ts'
import type { PackageFacts } from './package-facts.ts'

/** What one run says beside its results, as far as results refer to it. Lists are sparse: what was not kept is a hole. */
export type SarifRun = {
  tool: ReportTool
  /** False where `results` is null or absent: the run did not scan (§3.14.23). */
  hasResults: boolean
  /** An invocation says of itself that it failed (§3.20.14). */
  hasFailed: boolean
  /** Some results of the report stand outside of its runs, and may be of this one. */
  hasOutsideResults: boolean
  /** What the tool looks for, by its name. */
  kind: FindingKind
  driver: SarifComponent
  extensions: SarifComponent[]
  artifacts: ArtifactLocation[]
  logicalLocations: (string | null)[]
  uriBases: Map<string, ArtifactLocation>
  /** Names of the bases that are the top of the repository, and directories known to be it. */
  rootBases: Set<string>
  rootDirectories: string[]
  workingDirectories: string[]
  /** Places resolved before, and kinds told before, by what they were made of. */
  places: Memo<ArtifactPlace>
  kinds: Memo<FindingKind>
  automationId: string | null
  /** The levels that invocations set for rules (§3.20.5): as the report has them, and by invocation once all is read. */
  overrides: LevelOverride[]
  levelsByInvocation: Map<SarifRule, string>[]
  taxonomies: SarifTaxonomy[]
}

export type SarifComponent = {
  name: string | null
  guid: string | null
  rules: SarifRule[]
  rulesById: Map<string, SarifRule>
  rulesByGuid: Map<string, SarifRule>
  messages: Map<string, string>
}

export type SarifRule = {
  id: string | null
  guid: string | null
  name: string | null
  /** Its short description, else the beginning of its full one. */
  description: string | null
  helpUri: string | null
  level: string | null
  securitySeverity: number | null
  cvssVersion: string | null
  cvssScore: number | null
  cvssVector: string | null
  tags: string[]
  vulnIds: string[]
  taxa: DescriptorReference[]
  /** As its properties state them; drawn from tags and taxa too once the run's taxonomies are known. */
  cwes: string[]
  messages: Map<string, string>
  purls: string[]
  package: PackageFacts
  component: SarifComponent
}

export type ArtifactLocation = { uri: string | null; uriBaseId: string | null; index: number | null }
export type LevelOverride = { invocation: number; rule: DescriptorReference; level: string }
export type SarifTaxonomy = { name: string | null; guid: string | null; taxonIds: string[] }

export function newRun(): SarifRun {
  return {
    tool: { name: 'unknown', version: null },
    hasResults: false,
    hasFailed: false,
    hasOutsideResults: false,
    kind: 'code',
    driver: newComponent(),
    extensions: [],
    artifacts: [],
    logicalLocations: [],
    uriBases: new Map(),
    rootBases: new Set(),
    rootDirectories: [],
    workingDirectories: [],
    places: new Memo(),
    kinds: new Memo(),
    automationId: null,
    overrides: [],
    levelsByInvocation: [],
    taxonomies: [],
  }
}

export function newComponent(): SarifComponent {
  return { name: null, guid: null, rules: [], rulesById: new Map(), rulesByGuid: new Map(), messages: new Map() }
}

export function newTaxonomy(): SarifTaxonomy {
  return { name: null, guid: null, taxonIds: [] }
}
