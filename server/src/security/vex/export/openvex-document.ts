import packageJson from '../../../../package.json' with { type: 'json' }
import type { ExportedDocument, ExportedStatement } from './exported-document.ts'

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
