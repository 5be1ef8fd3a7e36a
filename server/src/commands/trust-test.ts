import { UsageError } from '@shiplock/command-line/options'
import type { CheckedCondition } from '../access/oidc-trusts/conditions/conditions.ts'
import { explainToken, type TokenExplanation } from '../access/oidc-trusts/tokens/explain-token.ts'
import { TOKEN_CHARS_MAX } from '../access/oidc-trusts/tokens/token-verifier.ts'
import { requireOrganization } from '../organizations/require-organization.ts'
import { withServices } from './administer.ts'
import { defineCommand } from './command.ts'
import { readStandardInput } from './standard-input.ts'
import { formatTable } from './table.ts'

export const trustTest = defineCommand({
  name: 'trust test',
  about:
    'Verifies a token of a CI job, and shows every condition of the live trusts beside the claim of the token. Exits with code 1 if the organization does not accept the token.',
  arguments: [],
  options: {
    org: { type: 'text', value: '<slug>', about: 'the organization', required: true },
    token: { type: 'text', value: '-', about: 'must be -: the token is read from standard input', required: true },
  },
  async run(context, _given, { org, token }) {
    if (token !== '-') throw new UsageError('--token must be -, and the token is read from standard input')
    const given = await readStandardInput(TOKEN_CHARS_MAX)
    const explained = await withServices(context, async (services) => {
      const organization = await requireOrganization(services.sql, org)
      return explainToken(services, organization.id, given)
    })
    context.print({ json: explained, text: toText(explained, org) })
    if (!explained.accepted) throw new Error(`The token is rejected (${explained.reason}): ${explained.details}`)
  },
})

const HEADING = ['TRUST', 'CLAIM', 'EXPECTED', 'TOKEN', '']

function toText({ trust, trusts }: TokenExplanation, org: string): string {
  const rows = trusts.flatMap(({ name, issuer, audience, conditions }) =>
    [issuer, audience, ...conditions].map((condition) => [name, ...toCells(condition)]),
  )
  const compared = formatTable(HEADING, rows, `The organization ${org} has no live trusts.`)
  return trust === null ? compared : `${compared}\n\nAccepted by the trust "${trust.name}" (${trust.id}).`
}

function toCells({ claim, expected, seen, matches }: CheckedCondition): string[] {
  const shown = seen.join(', ').replaceAll(/\p{Cc}/gu, '?')
  return [claim, expected.join(' or '), shown || '-', matches ? 'matches' : 'differs']
}
