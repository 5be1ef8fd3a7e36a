import { type Static, Type } from 'typebox'
import { OrganizationSlug } from '../../access/gateway/open-to-people.ts'
import { Reason } from '../../audit/audit.schema.ts'
import { Closed, ItemId, Nullable, OneOf } from '../../platform/http/schemas.ts'

const File = Type.String({
  minLength: 1,
  maxLength: 65_536,
  description: 'The text of the policy file, in YAML. docs/policies.md describes its format.',
})

/** The body of validatePolicy. */
export const PolicyText = Closed({ file: File })

/** The body of applyPolicy. */
export const PolicyApplication = Closed({
  file: File,
  expected_version: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'The version that the file was edited from, 0 for a new policy. The request fails if the policy has another version.',
    }),
  ),
  reason: Reason,
})

export const DRY_RUNS_MAX = 50

/** The body of dryRunPolicy. */
export const PolicyTrial = Closed({
  file: File,
  subject: Type.Optional(
    OneOf(['runs', 'deployments'], { default: 'runs', description: 'What to evaluate the policy on.' }),
  ),
  last: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: DRY_RUNS_MAX,
      default: DRY_RUNS_MAX,
      description: 'How many of the last runs or deployments that the policy covers to evaluate.',
    }),
  ),
  repository: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Evaluate only runs or deployments of this repository, as `owner/name`. Null or absent: all.',
      }),
    ),
  ),
  environment: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description:
          'For runs: evaluate each run as if it were deployed to this environment. For deployments: evaluate only those to this environment.',
      }),
    ),
  ),
})
export type PolicyTrial = Static<typeof PolicyTrial>

/** The query of listPolicies. */
export const PolicyFilter = Closed({
  repository: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Return only policies from files in this repository, as `owner/name`.',
    }),
  ),
})

/** The path of getPolicyVersion. */
export const VersionPath = Closed({
  org: OrganizationSlug,
  id: { ...ItemId, description: 'The id of the policy.' },
  version: Type.String({ pattern: '^[A-Za-z0-9-]{1,40}$', description: 'The number of the version.' }),
})

const Version = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }))

/** The query of comparePolicyVersions. */
export const VersionsToCompare = Closed({
  from: Version('The earlier version. Defaults to the one before `to`.'),
  to: Version('The later version. Defaults to the current one.'),
})
