import { type Static, Type } from 'typebox'
import { PROVIDERS } from '../../codehosts/catalogue.ts'
import { DEFAULT_TRUSTS, HOST_DISMISSALS, INVENTORY_MATCHING } from '../../organizations/organization.store.ts'
import { definePageQuery } from '../../platform/http/lists.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { UUID_PATTERN } from '../../platform/ids.ts'
import { OrganizationSlug } from '../gateway/open-to-people.ts'
import { PERMISSION_TITLES, PERMISSIONS } from '../role.ts'
import { EmailAddress } from '../sign-in/sign-in.schema.ts'

export const MemberPath = Closed({
  org: OrganizationSlug,
  user_id: Type.String({ pattern: UUID_PATTERN, description: 'The id of the user, a UUID.' }),
})

export const ProviderAccountPath = Closed({
  org: OrganizationSlug,
  user_id: Type.String({ pattern: UUID_PATTERN, description: 'The id of the user, a UUID.' }),
  provider: OneOf(PROVIDERS, { description: 'The code host.' }),
})

/** A built-in role, or a custom one. */
const RoleId = Type.String({
  minLength: 1,
  maxLength: 50,
  description:
    'A built-in role (`viewer`, `developer`, `release_manager`, `security` or `org_admin`), or the id of a custom role.',
})

const RoleName = Type.String({ description: 'The name of the role.' })

export const Member = Closed(
  {
    user_id: Type.String({ format: 'uuid', description: 'The id of the user.' }),
    email: EmailAddress,
    name: Type.String({ description: 'The name of the user.' }),
    role: RoleId,
    role_name: RoleName,
    status: OneOf(['active', 'disabled'], {
      description: '`disabled`: the member cannot use the organization, but keeps the role.',
    }),
    disabled_at: Nullable(Timestamp, { description: 'When the member was disabled.' }),
    joined_at: Type.String({ format: 'date-time', description: 'When the user joined the organization.' }),
    provider_accounts: Type.Array(
      Closed({
        provider: Type.String({ description: 'The code host, such as `github`.' }),
        login: Type.String({ description: 'The login of the member there.' }),
      }),
      { description: 'Who the member is at code hosts.' },
    ),
  },
  { description: 'A user in an organization.' },
)

const PAGE_MAX = 100
const PAGE_DEFAULT = 50

export const MemberQuery = definePageQuery(PAGE_MAX, PAGE_DEFAULT, {
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Return only members whose name or email address contains this text.',
    }),
  ),
  role: Type.Optional({
    ...RoleId,
    description: 'Return only members with this role. A custom role is given by its id.',
  }),
  status: Type.Optional(OneOf(['active', 'disabled'], { description: 'Return only members with this status.' })),
})

export const NewRoleOfMember = Closed({ role: RoleId })

export const NewProviderAccount = Closed({
  login: Type.String({
    pattern: '^[^\\s\\x00-\\x1f](?:[^\\x00-\\x1f]{0,98}[^\\s\\x00-\\x1f])?$',
    description:
      'The login of the member at the code host: the username on GitHub and GitLab, the nickname on Bitbucket, the ' +
      'email address on Azure DevOps.',
  }),
})

export const NewInvitation = Closed({ email: EmailAddress, role: RoleId })

export const InvitationPath = Closed({
  org: OrganizationSlug,
  id: Type.String({ pattern: UUID_PATTERN, description: 'The id of the invitation, a UUID.' }),
})

const invitationFields = {
  id: Type.String({ format: 'uuid', description: 'The id of the invitation.' }),
  email: EmailAddress,
  role: RoleId,
  role_name: RoleName,
  invited_by: Type.String({ description: 'The name of the person who made the invitation, or `command line`.' }),
  created_at: Type.String({ format: 'date-time', description: 'When the invitation was made.' }),
  expires_at: Type.String({ format: 'date-time', description: 'Until when the link can be used.' }),
  expired: Type.Boolean({ description: 'True if the link has expired. Send the invitation again.' }),
}

export const Invitation = Closed(invitationFields, { description: 'An open invitation.' })

export const SentInvitation = Closed(
  {
    ...invitationFields,
    link: Nullable(
      Type.String({
        description:
          'The link, which is shown only here. Pass it on to the invited person. Null if the server mailed it, or tried to: only the owner of the mailbox may use it.',
      }),
    ),
    mail: OneOf(['not_configured', 'sent', 'failed'], {
      description: 'Whether the link was mailed. `failed`: send the invitation again later.',
    }),
  },
  { description: 'An invitation whose link was just made.' },
)

export const OrganizationSettings = Closed(
  {
    id: Type.String({ format: 'uuid', description: 'The id of the organization.' }),
    slug: Type.String({ description: 'The short name in addresses. It never changes.' }),
    name: Type.String({ description: 'The display name.' }),
    plan: Type.String({ description: 'The plan.' }),
    is_demo: Type.Boolean({ description: 'Whether it contains example data (`shiplock-server demo`).' }),
    job_audience: Type.String({
      description: 'The audience that OIDC tokens of CI jobs need: the default of new trusts.',
    }),
    default_trust: Nullable(
      OneOf(DEFAULT_TRUSTS, {
        description:
          'Whose evidence the rules of policies admit that name no `trust`: `verified`, or also security reports of API keys (`uploaded`). Null until somebody says; `uploaded` counts then.',
      }),
    ),
    two_person_changes: Type.Boolean({
      description: 'Whether changes of gates and policies by people wait for a second person.',
    }),
    inventory_matching: OneOf(INVENTORY_MATCHING, {
      description:
        'Whether components are matched with advisories. `preview` shows findings, which count nowhere and block nothing.',
    }),
    host_dismissals: OneOf(HOST_DISMISSALS, {
      description: 'Whether dismissals at code hosts count (`accept`), or are proposals (`propose`).',
    }),
  },
  { description: 'An organization.' },
)

export const OrganizationChange = Closed({
  name: Type.String({ minLength: 1, maxLength: 200, description: 'The display name.' }),
})

export const DefaultTrustChange = Closed({
  default_trust: OneOf(DEFAULT_TRUSTS, {
    description: '`verified`: jobs identify themselves with OIDC tokens. `uploaded`: reports of API keys count, too.',
  }),
})

export const InventoryMatchingChange = Closed({
  inventory_matching: OneOf(INVENTORY_MATCHING, {
    description: '`on`: matches are findings. `preview`: they are shown and count nowhere. `off`: they end.',
  }),
})

export type SentInvitation = Static<typeof SentInvitation>

const MEANINGS = PERMISSIONS.map((permission) => `\`${permission}\`: ${PERMISSION_TITLES[permission]}`).join('. ')

const name = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The name of the role, which is unique in the organization.',
})
const permissions = Type.Array(OneOf(PERMISSIONS), {
  minItems: 1,
  maxItems: PERMISSIONS.length,
  description: `What members with the role can do. ${MEANINGS}.`,
})

export const Role = Closed(
  {
    id: Type.String({ description: 'The id of the role: a name for built-in roles, otherwise a UUID.' }),
    name,
    built_in: Type.Boolean({ description: 'True if every organization has the role. It cannot be changed.' }),
    permissions,
    members: Type.Integer({ description: 'The number of members with the role.' }),
    created_at: Nullable(Timestamp, { description: 'When the role was created. Null for a built-in role.' }),
    updated_at: Nullable(Timestamp, { description: 'When the role was last changed. Null for a built-in role.' }),
  },
  { description: 'A role, which gives permissions to members.' },
)

export const RolePath = Closed({
  org: OrganizationSlug,
  id: Type.String({ minLength: 1, maxLength: 50, description: 'The id of the role.' }),
})

export const NewRole = Closed({ name, permissions })

export const RoleChange = Type.Object(
  { name: Type.Optional(name), permissions: Type.Optional(permissions) },
  { additionalProperties: false, minProperties: 1 },
)
