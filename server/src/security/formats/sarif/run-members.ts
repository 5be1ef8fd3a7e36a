import { getMember, toObject, toObjects, toText } from '../../../platform/json/read-value.ts'
import { NAME_MAX, truncateText, VERSION_MAX } from '../../vocabulary/bounded-text.ts'
import { normalizeImageName } from '../../vocabulary/stream-name.ts'
import { readArtifactLocation, readLogicalName } from './location.ts'
import { collectRule, readDescriptorReference, readGuid, readMessages } from './rule.ts'
import {
  type ArtifactLocation,
  createComponent,
  createTaxonomy,
  type Invocation,
  type RunBudget,
  type SarifComponent,
  type SarifRun,
  type SarifTaxonomy,
} from './sarif-run.ts'

/** A selected value of a run. `indexes` are the array indexes within the run. */
type RunMember = { run: SarifRun; indexes: number[]; value: unknown; budget: RunBudget }

const EXTENSIONS_MAX = 200
const TAXONOMIES_MAX = 100
const TAXA_MAX = 5000
const INVOCATIONS_MAX = 1000
const URI_BASES_MAX = 1000
const IMAGE_NAMES_MAX = 100
const UNSCANNED_FILES_MAX = 1000
const UNRUN_RULES_MAX = 1000
const ERRORS_MAX = 20
const ERROR_CHARS_MAX = 80

/** Reads the members of a run other than its results, by path (§3.14). */
export const RUN_MEMBERS: Record<string, (member: RunMember) => void> = {
  ...componentMembers('runs[*].tool.driver', ({ run }) => run.driver),
  ...componentMembers('runs[*].tool.extensions[*]', ({ run, indexes }) => extension(run, indexes[0])),
  'runs[*].tool.driver.version': ({ run, value }) => {
    run.tool.version = readVersion(value) ?? run.tool.version
  },
  'runs[*].tool.driver.semanticVersion': ({ run, value }) => {
    run.tool.version ??= readVersion(value)
  },
  'runs[*].automationDetails.id': ({ run, value }) => {
    run.automationId = truncateText(toText(value), NAME_MAX)
  },
  // Trivy names the image that it scanned, to which the paths belong.
  'runs[*].properties.imageName': ({ run, value }) => {
    run.isImage ||= toText(value) !== null
    run.subject = normalizeImageName(truncateText(toText(value), NAME_MAX) ?? '')
    keepImageName(run, value)
  },
  'runs[*].properties.repoDigests[*]': ({ run, value }) => keepImageName(run, value),
  'runs[*].artifacts[*].location': ({ run, indexes: [index = 0], value, budget }) => {
    const location = readArtifactLocation(value)
    if (budget.hasRoomForName(location.uri ?? '')) run.artifacts[index] = location
  },
  'runs[*].logicalLocations[*]': ({ run, indexes: [index = 0], value, budget }) => {
    const name = readLogicalName(value)
    if (budget.hasRoomForName(name ?? '')) run.logicalLocations[index] = name
  },
  'runs[*].originalUriBaseIds': ({ run, value }) => {
    for (const [id, base] of Object.entries(toObject(value) ?? {}).slice(0, URI_BASES_MAX)) {
      run.uriBases.set(id, readArtifactLocation(base))
    }
  },
  'runs[*].versionControlProvenance[*].mappedTo.uriBaseId': ({ run, value }) => {
    const id = truncateText(toText(value), NAME_MAX)
    if (id !== null && run.rootBases.size < URI_BASES_MAX) run.rootBases.add(id)
  },
  'runs[*].invocations[*].executionSuccessful': ({ run, indexes, value }) => {
    if (value === false) getInvocation(run, indexes[0]).hasFailed = true
  },
  'runs[*].invocations[*].processStartFailureMessage': ({ run, indexes, value }) => {
    if (toText(value) !== null) getInvocation(run, indexes[0]).otherErrors.add(nameError({ message: { text: value } }))
  },
  'runs[*].invocations[*].exitCode': ({ run, indexes, value }) => {
    if (typeof value === 'number') getInvocation(run, indexes[0]).exitCode = value
  },
  'runs[*].invocations[*].exitSignalNumber': keepSignal,
  'runs[*].invocations[*].exitSignalName': keepSignal,
  'runs[*].invocations[*].toolExecutionNotifications[*]': keepError,
  'runs[*].invocations[*].toolConfigurationNotifications[*]': keepError,
  'runs[*].invocations[*].workingDirectory': ({ run, value }) => {
    const { uri } = readArtifactLocation(value)
    if (uri !== null && run.workingDirectories.length < INVOCATIONS_MAX) run.workingDirectories.push(uri)
  },
  'runs[*].invocations[*].ruleConfigurationOverrides[*]': ({ run, indexes: [invocation = 0], value }) => {
    const level = truncateText(toText(getMember(value, 'configuration', 'level')), VERSION_MAX)
    if (level === null || run.overrides.length === INVOCATIONS_MAX) return
    run.overrides.push({ invocation, rule: readDescriptorReference(toObject(getMember(value, 'descriptor'))), level })
  },
  'runs[*].taxonomies[*].name': ({ run, indexes, value }) => {
    taxonomy(run, indexes[0]).name = truncateText(toText(value), NAME_MAX)
  },
  'runs[*].taxonomies[*].guid': ({ run, indexes, value }) => {
    taxonomy(run, indexes[0]).guid = readGuid(value)
  },
  'runs[*].taxonomies[*].taxa[*].id': ({ run, indexes: [index, taxon = 0], value }) => {
    const id = truncateText(toText(value), VERSION_MAX)
    if (id !== null && taxon < TAXA_MAX) taxonomy(run, index).taxonIds[taxon] = id
  },
}

/** The members of a tool component: the driver or an extension (§3.19). */
function componentMembers(
  path: string,
  getComponent: (member: RunMember) => SarifComponent,
): Record<string, (member: RunMember) => void> {
  return {
    [`${path}.name`]: (member) => {
      getComponent(member).name = truncateText(toText(member.value), NAME_MAX)
    },
    [`${path}.guid`]: (member) => {
      getComponent(member).guid = readGuid(member.value)
    },
    [`${path}.globalMessageStrings`]: (member) => {
      getComponent(member).messages = readMessages(member.value)
    },
    [`${path}.rules[*]`]: (member) => {
      collectRule(getComponent(member), member.indexes.at(-1) ?? 0, member.value, member.budget)
    },
  }
}

function extension(run: SarifRun, index = 0): SarifComponent {
  while (run.extensions.length <= Math.min(index, EXTENSIONS_MAX - 1)) run.extensions.push(createComponent())
  return run.extensions[index] ?? createComponent()
}

function keepImageName({ imageNames }: SarifRun, value: unknown): void {
  const name = truncateText(toText(value), NAME_MAX)
  if (name !== null && imageNames.length < IMAGE_NAMES_MAX) imageNames.push(name)
}

function keepSignal({ run, indexes, value }: RunMember): void {
  if (value !== null && value !== '') getInvocation(run, indexes[0]).hasSignal = true
}

/** Keeps the files or the rule that an error is about (§3.58). */
function keepError({ run, indexes: [index], value, budget }: RunMember): void {
  const files = listErrorFiles(value)
  if (files.length === 0 && !isError(value)) return
  const invocation = getInvocation(run, index)
  const rule = toObject(getMember(value, 'associatedRule'))
  if (files.length > 0 || rule !== null) invocation.locatedErrors++
  else if (invocation.otherErrors.size < ERRORS_MAX) invocation.otherErrors.add(nameError(value))
  if (files.length === 0 && rule !== null) {
    if (run.unrunRules.length < UNRUN_RULES_MAX) run.unrunRules.push(readDescriptorReference(rule))
    else run.hasManyUnscanned = true
  }
  for (const file of files) {
    const key = JSON.stringify(file)
    if (run.unscannedFiles.has(key)) continue
    const hasRoom = run.unscannedFiles.size < UNSCANNED_FILES_MAX && budget.hasRoomForName(key)
    if (hasRoom) run.unscannedFiles.set(key, file)
    else run.hasManyUnscanned = true
  }
}

/**
 * What is the same if the next report has the error again: its kind, else its text without numbers.
 */
function nameError(notification: unknown): string {
  const id = toText(getMember(notification, 'descriptor', 'id'))
  const text = toText(getMember(notification, 'message', 'text')) ?? toText(getMember(notification, 'message', 'id'))
  return truncateText((id ?? text ?? '').replace(/\d+/g, '#'), ERROR_CHARS_MAX) ?? ''
}

/** Invocations beyond the limit are counted as one. */
function getInvocation(run: SarifRun, index = 0): Invocation {
  const at = Math.min(index, INVOCATIONS_MAX)
  run.invocations[at] ??= {
    hasFailed: false,
    exitCode: null,
    hasSignal: false,
    locatedErrors: 0,
    otherErrors: new Set(),
  }
  return run.invocations[at]
}

function taxonomy(run: SarifRun, index = 0): SarifTaxonomy {
  while (run.taxonomies.length <= Math.min(index, TAXONOMIES_MAX - 1)) run.taxonomies.push(createTaxonomy())
  return run.taxonomies[index] ?? createTaxonomy()
}

function readVersion(value: unknown): string | null {
  return truncateText(toText(value), VERSION_MAX)
}

/** True if a notification (§3.58) is an error, so that the analysis is incomplete. */
export function isError(notification: unknown): boolean {
  return getMember(notification, 'level') === 'error'
}

/** Semgrep's message about a file that it could not parse: a warning without a location. */
const SEMGREP_PARSE_ERROR = /^(?:Syntax|Lexical) error at line (.+?):\d+:/

/**
 * The files that the tool could not scan, by one of its notifications. ESLint, Bandit and CodeQL
 * write an error with the location of each file.
 */
function listErrorFiles(notification: unknown): ArtifactLocation[] {
  if (!isError(notification)) return listSemgrepFiles(notification)
  return toObjects(getMember(notification, 'locations'))
    .map((location) => readArtifactLocation(getMember(location, 'physicalLocation', 'artifactLocation')))
    .filter(({ uri, index }) => uri !== null || index !== null)
}

function listSemgrepFiles(notification: unknown): ArtifactLocation[] {
  const [, path] = SEMGREP_PARSE_ERROR.exec(toText(getMember(notification, 'message', 'text')) ?? '') ?? []
  return path === undefined ? [] : [readArtifactLocation({ uri: path })]
}
