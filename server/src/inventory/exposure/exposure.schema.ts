import { type Static, Type } from 'typebox'
import { LANES, TRUST_CLASSES } from '../../ci/runs/trust.ts'
import { ShownExposure } from '../../deployments/environments/environment.schema.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { type NotAffectedReason, UNKNOWN_REASONS, type UnknownReason } from './deployment-verdict.ts'

const text = (description: string) => Nullable(Type.String({ description }))
const time = (description: string) => Type.Unsafe<Date>({ ...Timestamp, description })
const count = (description: string) => Type.Integer({ minimum: 0, description })

export const ExposurePath = Closed({
  vulnerability: Type.String({
    minLength: 3,
    maxLength: 200,
    pattern: '^[^\\u0000/]+$',
    description: 'A CVE, a GHSA or any other known id, in any case. Aliases are resolved.',
  }),
})

export const ExposureQuery = Closed({
  scope: Type.Optional(
    OneOf(['runtime', 'all'], {
      default: 'runtime',
      description: '`all` also counts components that documents state to be excluded from what runs.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      description:
        'The `next_cursor` of the previous page. It is valid for 5 minutes, and while the answer is the same.',
    }),
  ),
})

const component = Closed(
  {
    id: text('The id of the component. Null if only a scanner reported the package.'),
    purl: text('The package URL. Null without one.'),
    name: text('The full name, as the ecosystem writes it.'),
    version: text('The version.'),
    direct: Nullable(Type.Boolean({ description: 'Whether it is a direct dependency. Null if that is not known.' })),
    path: text('The file that declares the component.'),
    scope: text('`required`, `optional` or `excluded`, as the document states it.'),
  },
  { description: 'The component.' },
)

const deployment = {
  repository: Type.String({ description: 'The repository as `owner/name`.' }),
  environment: Type.String({ description: 'The environment.' }),
  exposure: ShownExposure,
  deployment_id: Type.String({ description: 'The id of the deployment.' }),
}

const subject = Closed({
  name: Type.String({ description: 'What the digest is of.' }),
  sha256: Type.String({ description: 'The SHA-256 digest in lowercase hexadecimal.' }),
})

const found = {
  lane: Nullable(OneOf(LANES, { description: 'Who sent the document. Null if only a scanner reported the package.' })),
  fixed_version: text('The smallest version that fixes it. Null if none is known.'),
  issue_id: text('The issue of the component in the repository. Null if there is none.'),
}

const AffectedDeployment = Closed({
  ...deployment,
  deployed_at: time('When the deployment succeeded last.'),
  trust: OneOf(TRUST_CLASSES, { description: 'How far it can be trusted that the deployment runs.' }),
  run_id: text('The id of the run that deployed.'),
  commit_sha: text('The commit that is deployed. Null if it is not known.'),
  subjects: Type.Array(subject, { description: 'What is deployed, by digest. Empty if it is not known.' }),
  component,
  evidence: OneOf(['digest', 'commit', 'inferred'], {
    description:
      'How the contents are known: by a document about the `digest` of a subject, or about the `commit`, or `inferred` from the newest document of the tracked branch at that time.',
  }),
  ...found,
  status: OneOf(['open', 'fixed', 'dismissed'], {
    description:
      'The status of the issue; `open` if there is none. What runs stays affected after the branch was fixed.',
  }),
  approvals: Nullable(
    Type.Array(
      Closed({
        principal: Type.String({ description: 'The type of the principal: `api_key` or `user`.' }),
        display_name: text('The name of the user or the API key.'),
        at: { ...Timestamp, description: 'When it was approved.' },
      }),
    ),
    { description: 'Who approved the deployment. Null without the scope `read:deployments`.' },
  ),
})
export type AffectedDeployment = Static<typeof AffectedDeployment>

const AffectedElsewhere = Closed({
  repository: deployment.repository,
  category: text('The category of the document.'),
  git_ref: text('The Git ref that the document is about.'),
  component,
  ...found,
})
export type AffectedElsewhere = Static<typeof AffectedElsewhere>

const UnknownDeployment = Closed({
  ...deployment,
  reason: Type.Unsafe<UnknownReason>(
    OneOf([...UNKNOWN_REASONS], {
      description:
        'Why it is not known: no document about the commit (`no_sbom`), or none that could be read whole (`unreadable_sbom`); ' +
        'only documents of earlier commits (`sbom_older_than_deployment`); documents without the kind of package ' +
        '(`type_not_covered`); a version that cannot be compared (`unknown_version`); a distribution without its release ' +
        '(`no_release`); packages whose advisories are not evaluated (`unsupported_ecosystem`); no advisory that names ' +
        'packages (`no_advisory`).',
    }),
  ),
  subjects: Type.Optional(
    Type.Array(subject, {
      description: 'The subjects of the deployment about which it is not known. Absent if none was named.',
    }),
  ),
})
export type UnknownDeployment = Static<typeof UnknownDeployment>

const not_affected = {
  not_present: count('No document contains a package that the advisories name.'),
  version: count('The version is not affected.'),
  vex: count('A VEX statement says so.'),
  false_positive: count('The finding was dismissed as a false positive.'),
  used_in_tests: count('The finding was dismissed, because it is used in tests.'),
  mitigated: count('The finding was dismissed as mitigated, or the document says that a patch resolves it.'),
  withdrawn: count('The advisories that affected it were withdrawn.'),
} satisfies Record<NotAffectedReason, unknown>

const answer = {
  vulnerability: Closed(
    {
      canonical_id: Type.String({ description: 'The id that stands for all.' }),
      aliases: Type.Array(Type.String(), { description: 'The other ids.' }),
      title: text('A title, as a finding has it. Null if none has.'),
      severity: text('The severity of the advisory. Null if it states none.'),
      cvss: Nullable(Type.Object({}, { additionalProperties: true, description: 'The CVSS rating.' })),
      epss: Nullable(Type.Object({}, { additionalProperties: true, description: 'The EPSS score.' })),
      kev: Nullable(Type.Object({}, { additionalProperties: true, description: 'The entry of the KEV catalog.' })),
      modified_at: text('When an advisory was last changed.'),
    },
    { description: 'What is known about the vulnerability.' },
  ),
  as_of: Closed(
    {
      advisory: Nullable(time('When advisories were last imported. Null if they never were.')),
      kev: text('The day of the KEV catalog. Null if it was never imported.'),
      epss: text('The day of the EPSS scores. Null if they were never imported.'),
      inventory: time('When the answer was computed.'),
    },
    { description: 'How old the data is that the answer depends on.' },
  ),
  coverage: OneOf(['advisories', 'scanners_only'], {
    description:
      '`scanners_only` if no advisory names packages: then the answer has what scanners reported, and all else is unknown.',
  }),
  counts: Closed(
    {
      live_deployments: count('The deployments that run: the sum of the next three.'),
      affected: count('Those that have at least one affected component.'),
      not_affected: count('Those that are known not to be affected.'),
      unknown: count('Those about which it is not known.'),
      affected_not_live: count('The entries of `affected_not_live`.'),
    },
    { description: 'How many there are in the whole answer.' },
  ),
  affected: Type.Array(AffectedDeployment, {
    description: 'Where it runs: one entry for each deployment and component.',
  }),
  affected_not_live: Type.Array(AffectedElsewhere, {
    description: 'Where newest documents contain affected components that do not run in the repository.',
  }),
  not_affected: Closed(not_affected, { description: 'How many deployments are not affected, by the reason.' }),
  unknown: Type.Array(UnknownDeployment, { description: 'The deployments about which it is not known.' }),
}
export type ExposureAnswer = Static<ReturnType<typeof Closed<typeof answer>>>

export const Exposure = Closed(
  {
    ...answer,
    next_cursor: text(
      'The cursor of the next page, if the answer has more than 10,000 entries. Null on the last page.',
    ),
    complete: Type.Boolean({ description: 'Whether the answer is whole: true unless there are several pages.' }),
  },
  { $id: 'Exposure', description: 'Where a vulnerability runs, where it does not, and where that is not known.' },
)
