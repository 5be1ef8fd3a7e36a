import { type Static, type TString, Type } from 'typebox'
import { Reason } from '../../../audit/audit.schema.ts'
import { GLOB_CHARS_MAX } from '../../../platform/glob.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../../platform/http/schemas.ts'
import { PATTERNS_MAX } from '../../scopes.ts'
import type { Conditions as TrustConditions } from '../conditions.ts'
import { SPEAKS_AS, TRUST_PROVIDERS } from '../token-job.ts'
import { EVENT_FORM } from '../trusted-events.ts'
import { TRUST_SCOPES, TRUSTED_EVENTS_MAX } from './trust-request.ts'

const Time = (description: string) => Type.Unsafe<Date>({ ...Timestamp, description })
const MaybeTime = (description: string) => Nullable(Time(description))
const Text = (description: string, maxLength: number) => Type.String({ minLength: 1, maxLength, description })
const ISSUER = 'The claim `iss` of the tokens: an https URL without query.'
const AUDIENCE = 'The claim `aud` of the tokens.'
const PROVIDER = 'Whose claims the tokens have.'
const CONDITIONS =
  'The claims that must match, by name. The value is a glob, or a list of which one has to match. `*` stays within a part of a path, `**` does not.'

const TRUSTED_EVENTS =
  'GitHub: events whose jobs count as `verified` beside `push`, `schedule`, `merge_group`, `workflow_dispatch`, `release`, `create` and `deployment`, for a branch or a tag. Strangers can cause most others.'
const SELF_HOSTED =
  'GitHub: whether jobs on self-hosted runners of public repositories count as `verified`. Strangers may have changed such a runner.'

const SPEAKS_FOR =
  'Globs of other repositories that the jobs speak about, as central pipelines do, with or without their host. Jobs in which code of strangers may have run never do.'
const AS = 'How their statements about these count: `uploaded`, as those of API keys, or `verified`.'

const Conditions = (value: TString, description: string) =>
  Type.Record(Type.String(), Type.Union([value, Type.Array(value)]), { description })

export const NewTrust = Closed({
  name: Text('The name of the trust. It need not be unique.', 100),
  issuer: Text(ISSUER, 500),
  audience: Type.Optional(
    Text(
      `${AUDIENCE} Defaults to \`job_audience\` of the organization, and must be it where several organizations share the server.`,
      500,
    ),
  ),
  provider: Type.Optional(
    Nullable(
      OneOf(TRUST_PROVIDERS, {
        description: `${PROVIDER} Null or absent: derived from the issuer and the conditions.`,
      }),
    ),
  ),
  conditions: Conditions(Type.String({ minLength: 1, maxLength: 500 }), CONDITIONS),
  scopes: Type.Array(OneOf(TRUST_SCOPES), {
    minItems: 1,
    maxItems: 10,
    description: 'What the jobs can do. Each scope requires a permission that your role must have.',
  }),
  trusted_events: Type.Optional(
    Type.Array(Type.String({ pattern: EVENT_FORM }), { maxItems: TRUSTED_EVENTS_MAX, description: TRUSTED_EVENTS }),
  ),
  self_hosted: Type.Optional(Type.Boolean({ description: SELF_HOSTED })),
  speaks_for: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: GLOB_CHARS_MAX }), {
      maxItems: PATTERNS_MAX,
      description: `${SPEAKS_FOR} Requires the permission \`manage_members\`.`,
    }),
  ),
  as: Type.Optional(OneOf(SPEAKS_AS, { description: `${AS} Defaults to \`uploaded\`.` })),
  expires_at: Type.Optional(
    Nullable({
      ...Timestamp,
      description: 'When the trust expires, at most ten years from now. Null or absent: never.',
    }),
  ),
  reason: Reason,
})
export type NewTrust = Static<typeof NewTrust>

const PIN_NAME = 'A repository as `host/owner/name` in lower case, or an owner as `host/owner/`.'
const Pin = Closed({
  name: Type.String({ description: PIN_NAME }),
  id: Type.String({ description: 'The id that the name had in the first token, or at the connected code host.' }),
  pinned_at: Time('When the name was first let in.'),
  refused_id: Nullable(
    Type.String({ description: 'The other id of the name in the token that was refused last. Null if none was.' }),
  ),
  refused_at: MaybeTime('When that token was refused. Null if none was.'),
})

export const ReleasedPin = Closed({
  name: Type.Optional(
    Nullable(
      Type.String({ minLength: 1, maxLength: 600, description: `${PIN_NAME} Null or absent: all names of the trust.` }),
    ),
  ),
  reason: Reason,
})

export const ListedTrust = Closed(
  {
    id: Type.String({ description: 'The id of the trust.' }),
    name: Type.String({ description: 'The name of the trust.' }),
    issuer: Type.String({ description: ISSUER }),
    audience: Type.String({ description: AUDIENCE }),
    provider: Nullable(OneOf(TRUST_PROVIDERS, { description: `${PROVIDER} Null if the claims cannot be read.` })),
    conditions: Type.Unsafe<TrustConditions>(Conditions(Type.String(), CONDITIONS)),
    scopes: Type.Array(Type.String(), { description: 'What the jobs can do.' }),
    trusted_events: Type.Array(Type.String(), { description: TRUSTED_EVENTS }),
    self_hosted: Type.Boolean({ description: SELF_HOSTED }),
    speaks_for: Type.Array(Type.String(), { description: SPEAKS_FOR }),
    as: OneOf(SPEAKS_AS, { description: AS }),
    created_by: Type.String({ description: 'The name of the person who created the trust, or `command line`.' }),
    created_by_user_id: Nullable(
      Type.String({ description: 'The id of the person who created the trust. Null if no person did.' }),
    ),
    created_at: Time('When the trust was created.'),
    expires_at: MaybeTime('When the trust expires. Null if it does not expire.'),
    revoked_at: MaybeTime('When the trust was revoked. Null if it is not revoked.'),
    last_used_at: MaybeTime('When a token was last accepted, to the minute. Null if none was.'),
    pins: Type.Array(Pin, {
      description: 'Names that the trust has let in, with the id that each had; at most 50, refused ones first.',
    }),
  },
  { $id: 'OidcTrust', description: 'Which OIDC tokens of CI jobs the organization accepts.' },
)

const PlainText = (description: string) => Type.String({ description })
const MaybeText = (description: string) => Nullable(PlainText(description))
const MaybeNumber = (description: string) => Nullable(Type.Integer({ description }))

const CheckedClaim = Closed({
  claim: PlainText('The name of the claim.'),
  expected: Type.Array(Type.String(), { description: 'The globs of which one has to match.' }),
  seen: Type.Array(Type.String(), { description: 'The values of the claim in the token.' }),
  matches: Type.Boolean({ description: 'Whether the claim matches.' }),
})

const Job = Closed(
  {
    provider: OneOf(TRUST_PROVIDERS, { description: 'Whose claims the token has.' }),
    run: Closed(
      {
        ci_system: PlainText('The CI system.'),
        ci_instance: MaybeText('The CI server or organization. Null if the issuer does not tell.'),
        external_run_id: PlainText('The id of the run in the CI system.'),
        host_run_id: MaybeText('The id of the run on its code host. Null if the claims do not tell.'),
        attempt: MaybeNumber('The number of the attempt. Null if no claim has it.'),
      },
      { description: 'The run of the job.' },
    ),
    repository: Closed(
      {
        id: PlainText('The id of the repository at its code host.'),
        owner_id: MaybeText('The id of its owner. Null if no claim has it.'),
        host: MaybeText('The code host. Null if the issuer does not tell.'),
        address: MaybeText('The repository as `host/owner/name`. Null if the claims have only ids.'),
      },
      { description: 'The repository of the job.' },
    ),
    instance: MaybeText('The id of this one execution of the job. Null if no claim has it.'),
    commit_sha: MaybeText('The commit of the run. Null if no claim has it.'),
    ref: MaybeText('The full ref of the run. Null if no claim has it.'),
    pipeline_name: MaybeText('The name of the pipeline. Null if no claim has it.'),
    run_number: MaybeNumber('The number of the run. Null if no claim has it.'),
    event: PlainText('What started the run.'),
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

const NAME = { id: PlainText('The id of the trust.'), name: PlainText('The name of the trust.') }

/** Whether an organization accepts a token, and why not. */
export const ExplainedToken = Closed({
  accepted: Type.Boolean({ description: 'Whether the organization accepts the token.' }),
  reason: Nullable(
    OneOf(['expired', 'invalid', 'unmatched'], { description: 'Why the token is rejected. Null if it is accepted.' }),
  ),
  details: MaybeText('The reason in words. Null if the token is accepted.'),
  reach: MaybeText('What the token may state, close and open, in words. Null if it is rejected.'),
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
