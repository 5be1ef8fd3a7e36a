import { COMMAND_LINE } from '../audit/audit.store.ts'
import { requireOrganization } from '../organizations/organization.ts'
import { listAuthenticKeys, listPublicKeys, rotateKey } from '../provenance/statements/rotate-key.ts'
import { KEY_ALGORITHM, type SigningKey } from '../provenance/statements/signing-key.ts'
import { defineCommand, formatTable } from './command.ts'
import { withServices } from './with-services.ts'

const ORG = { type: 'text', value: '<slug>', about: 'the organization', required: true } as const

export const signingKeyList = defineCommand({
  name: 'signing-key list',
  about: "Lists an organization's signing keys, current first. Retired keys still verify earlier statements.",
  arguments: [],
  options: { org: ORG },
  async run(context, _given, { org }) {
    const keys = await withServices(context, async (services) =>
      listAuthenticKeys(services, (await requireOrganization(services.sql, org)).id),
    )
    const none = `The organization ${org} has no signing keys. The first one is made when it is needed.`
    context.print({
      json: keys.map(toItem),
      text: formatTable(['KEY', 'CREATED', 'RETIRED', 'KEPT IN'], keys.map(toRow), none),
    })
  },
})

export const signingKeyRotate = defineCommand({
  name: 'signing-key rotate',
  about: 'Makes a new signing key. Statements that were issued before keep their signatures.',
  arguments: [],
  options: { org: ORG },
  async run(context, _given, { org }) {
    const key = await withServices(context, async (services) => {
      const organization = await requireOrganization(services.sql, org)
      return rotateKey(services, organization.id, COMMAND_LINE)
    })
    context.print({ json: toItem(key), text: `The new signing key is ${key.keyid}\n\n${key.pem.trim()}` })
  },
})

export const signingKeyExportPublic = defineCommand({
  name: 'signing-key export-public',
  about: 'Prints the public key that verifies new statements, as PEM.',
  arguments: [],
  options: {
    org: ORG,
    all: { type: 'flag', value: '', about: 'print the retired keys, too' },
  },
  async run(context, _given, { org, all }) {
    const keys = await withServices(context, async (services) =>
      listPublicKeys(services, (await requireOrganization(services.sql, org)).id),
    )
    const exported = all ? keys : keys.slice(0, 1)
    context.print({ json: { keys: exported }, text: exported.map(({ pem }) => pem.trim()).join('\n') })
  },
})

function toItem({ keyid, pem, kms_key, created_at, retired_at }: SigningKey) {
  return { keyid, alg: KEY_ALGORITHM, pem, kms_key, created_at, retired_at }
}

function toRow({ keyid, created_at, retired_at, kms_key }: SigningKey): string[] {
  return [keyid, created_at.toISOString(), retired_at?.toISOString() ?? '-', kms_key ?? 'database (sealed)']
}
