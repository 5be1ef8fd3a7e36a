import { defineError } from '../platform/http/api-error.ts'

/** What an organization, its plan and its members allow, and what its keys and trusts can do. */

export const planRequired = defineError({
  status: 402,
  code: 'plan_required',
  cause: 'The plan has no API access (`details.reason`) or does not include this feature (`details.requiredPlan`).',
  remedy: 'Change the plan.',
  message: (message: string, _details: { requiredPlan: string | null } | { reason: 'API_ACCESS' }) => message,
  details: (_message, details) => details,
})

export const insufficientPermission = defineError({
  status: 403,
  code: 'insufficient_permission',
  cause: 'Application API: the role of the person does not have the permission `details.requiredPermission`.',
  remedy: 'Ask an admin of the organization for the permission.',
  message: (message: string, _details: { requiredPermission: string | undefined; scope?: string }) => message,
  details: (_message, details) => details,
})

export const ownMembership = defineError({
  status: 403,
  code: 'own_membership',
  cause: 'Application API: you change your own membership, role or account at a code host.',
  remedy: 'Ask another admin.',
  message: (what: 'membership' | 'role') => `Nobody can change their own ${what}. Ask another admin.`,
})

export const wrongAccount = defineError({
  status: 403,
  code: 'wrong_account',
  cause: 'Application API: the link is for another email address than that of the session.',
  remedy: 'Sign out, then open the link again.',
  message: 'The link is for another email address than yours. Sign out, then open it again.',
})

export const alreadyMember = defineError({
  status: 409,
  code: 'already_member',
  cause: 'Application API: the person is a member of the organization already.',
  remedy: 'Read the members.',
})

export const lastOrgAdmin = defineError({
  status: 409,
  code: 'last_org_admin',
  cause: 'Application API: the organization would have no active Org admin.',
  remedy: 'Make another member Org admin first.',
  message: 'An organization keeps at least one active Org admin. Make another member Org admin first.',
})

export const nameTaken = defineError({
  status: 409,
  code: 'name_taken',
  cause: 'Another object of the organization has the name.',
  remedy: 'Choose another name.',
})

export const providerAccountTaken = defineError({
  status: 409,
  code: 'provider_account_taken',
  cause: 'Application API: another member has this account at the code host.',
  remedy: 'Remove it from the other member.',
  message: 'Another member of the organization has this account.',
})

export const roleBuiltIn = defineError({
  status: 409,
  code: 'role_built_in',
  cause: 'Application API: built-in roles cannot be changed or deleted.',
  remedy: 'Create a custom role.',
  message: 'Built-in roles cannot be changed or deleted.',
})

export const roleInUse = defineError({
  status: 409,
  code: 'role_in_use',
  cause: 'Application API: a member or an open invitation has the role.',
  remedy: 'Give them another role first.',
  message: 'A member or an open invitation has the role. Give them another role first.',
})

export const roleNameTaken = defineError({
  status: 409,
  code: 'role_name_taken',
  cause: 'Application API: another role of the organization has the name.',
  remedy: 'Choose another name.',
  message: (name: string) => `The organization has a role with the name "${name}".`,
})

export const tooManyApiKeys = defineError({
  status: 409,
  code: 'too_many_api_keys',
  cause: 'The organization has as many API keys as it can have.',
  remedy: 'Revoke one that is not used.',
  message: (max: number) => `An organization can have at most ${max} API keys. Revoke a key that is not used.`,
})

export const tooManyInvitations = defineError({
  status: 409,
  code: 'too_many_invitations',
  cause: 'Application API: the organization has as many open invitations as it can have.',
  remedy: 'Revoke one first.',
  message: (max: number) => `An organization can have ${max} open invitations.`,
})

export const tooManyOidcTrusts = defineError({
  status: 409,
  code: 'too_many_oidc_trusts',
  cause: 'The organization has as many OIDC trusts as it can have.',
  remedy: 'Revoke one that is not used.',
  message: (max: number) => `An organization can have at most ${max} OIDC trusts. Revoke one that is not used.`,
})

export const tooManyRoles = defineError({
  status: 409,
  code: 'too_many_roles',
  cause: 'Application API: the organization has as many custom roles as it can have.',
  remedy: 'Delete one first.',
  message: (max: number) => `An organization can have ${max} custom roles.`,
})

export const tooManySavedViews = defineError({
  status: 409,
  code: 'too_many_saved_views',
  cause: 'Application API: you have 100 saved views.',
  remedy: 'Delete one first.',
  message: (max: number) => `You have ${max} saved views. Delete one first.`,
})

export const versionConflict = defineError({
  status: 409,
  code: 'version_conflict',
  cause: 'The object has another version than `expected_version`. `details.version` is the current one.',
  remedy: 'Read the object, and repeat the change.',
  message: (object: 'gate' | 'policy', version: number) =>
    `The ${object} has been changed. Its version is ${version}. Read it again.`,
  details: (_object, version) => ({ version }),
})

export const linkNotValid = defineError({
  status: 410,
  code: 'link_not_valid',
  cause:
    'Application API: the one-use link is unknown, was used, revoked or replaced, or has expired, or whoever made it ' +
    'can no longer do so.',
  remedy: 'Ask for a new link.',
  message: 'The link was used or revoked, or it has expired. Ask for a new one.',
})
