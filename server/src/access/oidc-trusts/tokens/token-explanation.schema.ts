import { Type } from 'typebox'
import { Closed, Nullable, OneOf } from '../../../platform/http/schemas.ts'
import { TRUST_PROVIDERS } from '../token-job.ts'

const Text = (description: string) => Type.String({ description })
const MaybeText = (description: string) => Nullable(Text(description))
const MaybeNumber = (description: string) => Nullable(Type.Integer({ description }))

const CheckedClaim = Closed({
  claim: Text('The name of the claim.'),
  expected: Type.Array(Type.String(), { description: 'The globs of which one has to match.' }),
  seen: Type.Array(Type.String(), { description: 'The values of the claim in the token.' }),
  matches: Type.Boolean({ description: 'Whether the claim matches.' }),
})

const Job = Closed(
  {
    provider: OneOf(TRUST_PROVIDERS, { description: 'Whose claims the token has.' }),
    run: Closed(
      {
        ci_system: Text('The CI system.'),
        external_run_id: Text('The id of the run in the CI system.'),
        host_run_id: MaybeText('The id of the run on its code host. Null if the claims do not tell.'),
        attempt: MaybeNumber('The number of the attempt. Null if no claim has it.'),
      },
      { description: 'The run of the job.' },
    ),
    repository: Closed(
      {
        id: Text('The id of the repository at its code host.'),
        owner_id: MaybeText('The id of its owner. Null if no claim has it.'),
        host: MaybeText('The code host. Null if the issuer does not tell.'),
        address: MaybeText('The repository as `host/owner/name`. Null if the claims have only ids.'),
      },
      { description: 'The repository of the job.' },
    ),
    commit_sha: MaybeText('The commit of the run. Null if no claim has it.'),
    ref: MaybeText('The full ref of the run. Null if no claim has it.'),
    pipeline_name: MaybeText('The name of the pipeline. Null if no claim has it.'),
    run_number: MaybeNumber('The number of the run. Null if no claim has it.'),
    event: Text('What started the run.'),
    actor: MaybeText('Who started the run. Null if no claim has it.'),
    environment: MaybeText('The environment of the job. Null if no claim has it.'),
    url: MaybeText('The address of the run. Null if the claims do not determine it.'),
    foreign_code: OneOf(['none', 'possible', 'pull_request'], {
      description: 'Whether code of strangers may have run in the job. `pull_request`: only the code host can tell.',
    }),
    claims: Type.Record(Type.String(), Type.String(), { description: 'The claims that identify the job.' }),
  },
  { description: 'The CI job that the claims describe. Null if the token is rejected or its claims cannot be read.' },
)

const NAME = { id: Text('The id of the trust.'), name: Text('The name of the trust.') }

/** Whether an organization accepts a token, and why not. */
export const ExplainedToken = Closed({
  accepted: Type.Boolean({ description: 'Whether the organization accepts the token.' }),
  reason: Nullable(
    OneOf(['expired', 'invalid', 'unmatched'], { description: 'Why the token is rejected. Null if it is accepted.' }),
  ),
  details: MaybeText('The reason in words. Null if the token is accepted.'),
  trust: Nullable(Closed(NAME, { description: 'The trust that accepts the token. Null if none does.' })),
  job: Nullable(Job),
  trusts: Type.Array(
    Closed({
      ...NAME,
      issuer: { ...CheckedClaim, description: 'The issuer of the token.' },
      audience: { ...CheckedClaim, description: 'The audience of the token.' },
      conditions: Type.Array(CheckedClaim, { description: 'The conditions of the trust.' }),
    }),
    { description: 'Every live trust beside the claims of the token, whose signature need not be valid.' },
  ),
})
