import packageJson from '../../../package.json' with { type: 'json' }
import { parsePackageUrl } from '../vocabulary/package-url.ts'
import type { ExportedDocument, ExportedStatement, Justification } from './exported-document.ts'

/** A document in CycloneDX 1.6 with the assessed vulnerabilities and their packages. */
export function toCycloneDxDocument(document: ExportedDocument): object {
  const { id, version, changed_at, author, repository, statements } = document
  const packages = [...new Set(statements.flatMap((statement) => statement.packages))].sort()
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${id}`,
    version,
    metadata: {
      timestamp: changed_at,
      tools: { components: [{ type: 'application', name: 'Shiplock', version: packageJson.version }] },
      authors: [{ name: author }],
      component: { type: 'application', 'bom-ref': repository.identifier, name: repository.name },
    },
    components: packages.map(toComponent),
    vulnerabilities: statements.map(toVulnerability),
  }
}

function toComponent(purl: string) {
  const { name = purl, version = null } = parsePackageUrl(purl) ?? {}
  return { type: 'library', 'bom-ref': purl, name, ...(version !== null && { version }), purl }
}

function toVulnerability({ ids, packages, ...facts }: ExportedStatement) {
  const [id = '', ...aliases] = ids
  return {
    id,
    ...(aliases.length > 0 && {
      references: aliases.map((alias) => ({ id: alias, source: { name: getDatabase(alias) } })),
    }),
    analysis: toAnalysis(facts),
    affects: packages.map((ref) => ({ ref })),
  }
}

function getDatabase(id: string): string {
  return id.slice(0, Math.max(0, id.indexOf('-'))) || 'unknown'
}

const STATES = {
  affected: 'exploitable',
  under_investigation: 'in_triage',
  not_affected: 'not_affected',
  fixed: 'resolved',
} as const

/** The closest justifications of CycloneDX. */
const JUSTIFICATIONS: Record<Justification, string> = {
  component_not_present: 'code_not_present',
  vulnerable_code_not_present: 'code_not_present',
  vulnerable_code_not_in_execute_path: 'code_not_reachable',
  vulnerable_code_cannot_be_controlled_by_adversary: 'requires_environment',
  inline_mitigations_already_exist: 'protected_by_mitigating_control',
}

function toAnalysis({
  status,
  justification,
  impact,
  action,
  notes,
  at,
  ...facts
}: Omit<ExportedStatement, 'ids' | 'packages'>) {
  const detail = [impact, action, notes].filter((text) => text !== null).join('\n')
  return {
    state: facts.is_false_positive ? 'false_positive' : STATES[status],
    ...(justification !== null && { justification: JUSTIFICATIONS[justification] }),
    ...(facts.will_not_fix && { response: ['will_not_fix'] }),
    ...(detail !== '' && { detail }),
    firstIssued: at,
    lastUpdated: at,
  }
}

/**
 * A document in OpenVEX 0.2. Its schema allows only one of `justification` and `impact_statement`.
 */
export function toOpenVexDocument(document: ExportedDocument): object {
  const { id, version, created_at, changed_at, author, repository, statements } = document
  return {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': `urn:uuid:${id}`,
    author,
    timestamp: created_at,
    last_updated: changed_at,
    version,
    tooling: `Shiplock ${packageJson.version}`,
    statements: statements.map((statement) => toStatement(statement, repository.identifier)),
  }
}

function toStatement({ ids, packages, status, at, ...facts }: ExportedStatement, product: string) {
  const [name, ...aliases] = ids
  const { justification, impact, action, notes } = facts
  return {
    vulnerability: { name, ...(aliases.length > 0 && { aliases }) },
    timestamp: at,
    products: [{ '@id': product, subcomponents: packages.map((purl) => ({ '@id': purl, identifiers: { purl } })) }],
    status,
    ...(justification !== null && { justification }),
    ...(impact !== null && { impact_statement: impact }),
    ...(action !== null && { action_statement: action }),
    ...(notes !== null && { status_notes: notes }),
  }
}
