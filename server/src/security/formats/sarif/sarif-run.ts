import type { FindingKind } from '../../vocabulary/finding.ts'
import type { Severity } from '../../vocabulary/severity.ts'
import { CheckoutDirectories } from '../report/checkout.ts'
import type { ReportTool } from '../report/parsed-report.ts'
import { Memo, type ReportWarnings } from '../report/report-reading.ts'
import type { PackageFacts } from './package-facts.ts'

/** All of a run to which its results refer. The lists are sparse: a missing entry was not kept. */
export type SarifRun = {
  tool: ReportTool
  /** The image that the run is about; null if it names none. */
  subject: string | null
  /** What may have its digest. */
  imageNames: string[]
  /** False if `results` is null or absent: the run did not scan (§3.14.23). */
  hasResults: boolean
  /** True if `results` has no elements. */
  isEmpty: boolean
  /** What the invocations state of failures, by index. */
  invocations: Invocation[]
  /** The files that the tool could not scan, by an error that it states. */
  unscannedFiles: Map<string, ArtifactLocation>
  /** The rules that the tool could not run, by an error that it states. */
  unrunRules: DescriptorReference[]
  /** True if the tool could not scan more files, or run more rules, than are kept. */
  hasManyUnscanned: boolean
  /** True if the report has results outside its runs, which may belong to this run. */
  hasOutsideResults: boolean
  /** The kind of findings that the tool usually reports, by its name. */
  kind: FindingKind
  driver: SarifComponent
  extensions: SarifComponent[]
  artifacts: ArtifactLocation[]
  logicalLocations: (string | null)[]
  uriBases: Map<string, ArtifactLocation>
  /** The bases that are the top of the repository. */
  rootBases: Set<string>
  /** The absolute directories that the report states as the top of the repository. */
  rootDirectories: string[]
  /** The directory in front of its paths, if the runs of the report have different tops. */
  directory: string
  workingDirectories: string[]
  /** True if it is about an image, whose paths are those of a machine. */
  isImage: boolean
  /** Shared by all runs of the report. */
  checkout: CheckoutDirectories
  /** Caches for results of the run. */
  fileLocations: Memo<FileLocation>
  kinds: Memo<FindingKind>
  /** Fingerprints that do not tell its results apart: their names, or single values. */
  sharedFingerprints: ReadonlySet<string>
  automationId: string | null
  /** The levels that invocations set for rules (§3.20.5). */
  overrides: LevelOverride[]
  /** The same by invocation and rule, set after the whole run was read. */
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
  /** The ids that the rule had before (§3.49.4). */
  deprecatedIds: string[]
  guid: string | null
  name: string | null
  /** Its short description, else the beginning of its full description. */
  description: string | null
  helpUri: string | null
  level: string | null
  securitySeverity: number | null
  /** The severity that its properties name in a word. */
  severity: Severity | null
  cvssVersion: string | null
  cvssScore: number | null
  cvssVector: string | null
  tags: string[]
  /** The vulnerability ids in its tags. */
  tagIds: string[]
  /** The ids that its members state, and those that its texts only mention. */
  vulnIds: string[]
  mentionedIds: string[]
  taxa: DescriptorReference[]
  /** At first from its properties only. Tags and taxa are added after the whole run was read. */
  cwes: string[]
  messages: Map<string, string>
  purls: string[]
  package: PackageFacts
  component: SarifComponent
}

/** A reference to a tool component (§3.54). */
export type ComponentReference = { name: string | null; guid: string | null; index: number | null }
/** A reference to a rule or taxon (reportingDescriptorReference, §3.52). */
export type DescriptorReference = {
  id: string | null
  guid: string | null
  index: number | null
  component: ComponentReference | null
}

/** Where an artifact is: a path, or the address of a web page, an image and the like. */
export type FileLocation = { path: string | null; address: string | null }
export type ArtifactLocation = { uri: string | null; uriBaseId: string | null; index: number | null }
/** What an invocation states of its end, and its errors: those about a file or rule, and others. */
export type Invocation = {
  hasFailed: boolean
  exitCode: number | null
  hasSignal: boolean
  locatedErrors: number
  otherErrors: Set<string>
}
type LevelOverride = { invocation: number; rule: DescriptorReference; level: string }
export type SarifTaxonomy = { name: string | null; guid: string | null; taxonIds: string[] }

export function createRun(checkout = new CheckoutDirectories()): SarifRun {
  return {
    tool: { name: 'unknown', version: null },
    subject: null,
    imageNames: [],
    hasResults: false,
    isEmpty: true,
    invocations: [],
    unscannedFiles: new Map(),
    unrunRules: [],
    hasManyUnscanned: false,
    hasOutsideResults: false,
    kind: 'code',
    driver: createComponent(),
    extensions: [],
    artifacts: [],
    logicalLocations: [],
    uriBases: new Map(),
    rootBases: new Set(),
    rootDirectories: [],
    directory: '',
    workingDirectories: [],
    isImage: false,
    checkout,
    fileLocations: new Memo(),
    kinds: new Memo(),
    automationId: null,
    overrides: [],
    levelsByInvocation: [],
    sharedFingerprints: new Set(),
    taxonomies: [],
  }
}

export function createComponent(): SarifComponent {
  return { name: null, guid: null, rules: [], rulesById: new Map(), rulesByGuid: new Map(), messages: new Map() }
}

export function createTaxonomy(): SarifTaxonomy {
  return { name: null, guid: null, taxonIds: [] }
}

const RULES_MAX = 100_000
const RULE_TEXT_MAX = 32 * 1024 * 1024
const NAMES_MAX = 300_000
const NAME_TEXT_MAX = 24 * 1024 * 1024

/**
 * Limits what is kept of a report for its results. Beyond a limit a warning is added, and results
 * are read with less information.
 */
export class RunBudget {
  readonly #warnings: ReportWarnings
  #rules = RULES_MAX
  #ruleText = RULE_TEXT_MAX
  #names = NAMES_MAX
  #nameText = NAME_TEXT_MAX

  constructor(warnings: ReportWarnings) {
    this.#warnings = warnings
  }

  /** Takes the room for a rule; false if there is none. */
  hasRoomForRule(): boolean {
    if (this.#rules-- > 0) return true
    this.#warnings.add(`The report describes more than ${RULES_MAX} rules; the rest was not read.`)
    return false
  }

  /** Takes the room for a rule's texts; false if there is none. */
  hasRoomForRuleText(length: number): boolean {
    this.#ruleText -= length
    if (this.#ruleText >= 0) return true
    this.#warnings.add('The descriptions of the rules are too long together; some were not read.')
    return false
  }

  /** Takes the room for the name of an artifact or logical location; false if there is none. */
  hasRoomForName(name: string): boolean {
    this.#nameText -= name.length
    if (this.#names-- > 0 && this.#nameText >= 0) return true
    this.#warnings.add('The report lists too many artifacts; some locations that refer to them were not read.')
    return false
  }
}
