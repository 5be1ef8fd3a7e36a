import { defineError } from '../platform/http/api-error.ts'

/** Gates, answers to deployments, and the policies that gates evaluate. */

export const invalidPolicy = defineError({
  status: 400,
  code: 'invalid_policy',
  cause: 'A policy file has mistakes. `details.mistakes` lists `{line, column, path, message}`.',
  remedy: 'Fix the mistakes.',
  message: (first: string, _mistakes: readonly object[]) => `The policy file is not valid: ${first}`,
  details: (_first, mistakes) => ({ mistakes }),
})

export const reasonRequired = defineError({
  status: 400,
  code: 'reason_required',
  cause:
    'An API key approves or rejects without a reason of 10 to 500 characters, a person overrides a policy without one, ' +
    'or the reason that was sent has another length.',
  remedy: 'Send a reason.',
  message: (minLength: number, maxLength: number) => `Send a reason of ${minLength} to ${maxLength} characters.`,
  details: (minLength, maxLength) => ({ minLength, maxLength }),
})

export const insufficientScope = defineError({
  status: 403,
  code: 'insufficient_scope',
  cause:
    'The key does not have the scope `details.requiredScope`: to approve a deployment that a policy blocks, or to change ' +
    'one that another credential has opened.',
  remedy: 'Send it with a key that has the scope. Or fix what the policy reports.',
  message: (_requiredScope: string, message: string) => message,
  details: (requiredScope) => ({ requiredScope }),
})

export const deploymentFinished = defineError({
  status: 409,
  code: 'deployment_finished',
  cause: 'The deployment has ended, and another status is reported. `details.status` is the one that it has.',
  remedy: 'Open a gate for the next deployment.',
  message: (status: string) => `The deployment has ended with the status ${status} and cannot change.`,
  details: (status) => ({ status }),
})

export const notApproved = defineError({
  status: 409,
  code: 'not_approved',
  cause: 'A status other than `cancelled` is reported for a deployment that still waits for its approval.',
  remedy: 'Deploy only after the gate is approved.',
  message: 'The deployment is not approved yet. Until then it can only be cancelled.',
})

export const gateSubjectsDiffer = defineError({
  status: 409,
  code: 'gate_subjects_differ',
  cause:
    'A gate is opened again with other subjects than it was opened with, or subjects are added to a deployment whose gate or run names some.',
  remedy: 'Open the gate with all subjects at once. For other subjects, deploy with another job or attempt.',
  message: 'The subjects of the deployment are known already, and these are others.',
})

export const hostReportsStatus = defineError({
  status: 409,
  code: 'host_reports_status',
  cause: 'A status is reported for a deployment of a code host.',
  remedy: 'Leave the status to the code host.',
  message: 'The code host reports the status of this deployment.',
})

export const alreadyDecided = defineError({
  status: 409,
  code: 'already_decided',
  cause:
    'The deployment is decided, or this key or person has already answered it. The keys that a person created count ' +
    'as the person, and all keys that were created at the command line as one.',
  remedy: 'Read the deployment.',
})

export const gateNotConfigured = defineError({
  status: 409,
  code: 'gate_not_configured',
  cause: 'No gate covers this environment, repository and branch, or the named gate does not.',
  remedy: 'Configure a gate.',
})

export const notGated = defineError({
  status: 409,
  code: 'not_gated',
  cause: "The deployment does not wait for the service's own protection rule.",
  remedy: 'Read the deployment.',
  message: "The deployment does not wait for the service's own protection rule.",
})

export const notAsked = defineError({
  status: 409,
  code: 'not_asked',
  cause:
    "The code host holds the deployment and has not asked the service's own protection rule: it waits for something else, " +
    'or the request is still to come. `details.awaiting` says for what.',
  remedy: 'Answer on the code host, or read the deployment again later.',
  message: (_awaiting: readonly string[], described: string) =>
    `The code host has not asked Shiplock about this deployment. It waits for ${described}.`,
  details: (awaiting) => ({ awaiting }),
})

export const policyInRepository = defineError({
  status: 409,
  code: 'policy_in_repository',
  cause: 'The policy comes from a file in a repository.',
  remedy: 'Delete the file.',
  message: (path: string) => `The policy comes from a file in a repository. Delete ${path} there.`,
})

export const policyInUse = defineError({
  status: 409,
  code: 'policy_in_use',
  cause: 'Gates name the policy, which `details.gates` lists.',
  remedy: 'Change the gates, then delete the policy.',
  message: (gates: string[]) => `Gates evaluate the policy: ${gates.join(', ')}.`,
  details: (gates) => ({ gates }),
})

export const reviewerGateRequiresHuman = defineError({
  status: 409,
  code: 'reviewer_gate_requires_human',
  cause:
    'For a key: only a person can answer the remaining gates. For a person: only the reviewers that the code host ' +
    'requires are left.',
  remedy: 'Ask a reviewer.',
})

export const runCreatorRefused = defineError({
  status: 409,
  code: 'run_creator_refused',
  cause:
    'A key with the scope `write:ci` answers a gate that was opened by the API (`details.reason` is `WRITE_CI`). Or the ' +
    'gate does not accept who opened the deployment: the keys that wrote to the run or opened the gate, the people who ' +
    'created these, and who started the run on the code host.',
  remedy: 'Answer as another person, or with a key without `write:ci` that another person created.',
})

export const changeAuthorRefused = defineError({
  status: 409,
  code: 'change_author_refused',
  cause:
    'The person, or the person who created the key, loosened a gate that covers the deployment, or changed a policy that ' +
    'is asked, after it was opened or within 24 hours before.',
  remedy: 'Ask another person to approve.',
  message:
    'You changed a gate, a policy or the default trust of this deployment after it was opened or within 24 hours before. Another person must approve it.',
})

export const linkedAccountRequired = defineError({
  status: 409,
  code: 'linked_account_required',
  cause:
    'The gate requires linked accounts, somebody started the run on a code host, and the account of this person there is ' +
    'not linked.',
  remedy: 'Ask an Org admin to link the account, or another person to answer.',
  message:
    'The gate accepts people with a linked account on the code host only, because somebody started the run there.',
})

export const tooManyGates = defineError({
  status: 409,
  code: 'too_many_gates',
  cause: 'The organization has as many gates as it can have.',
  remedy: 'Delete one that is not used.',
  message: (max: number) => `An organization can have at most ${max} gates.`,
})

export const tooManyEnvironments = defineError({
  status: 409,
  code: 'too_many_environments',
  cause: 'The organization states facts about as many environments as it can.',
  remedy: 'Delete an entry that is not used, or let one glob stand for several.',
  message: (max: number) => `An organization can have at most ${max} entries of environments.`,
})

export const tooManyPendingChanges = defineError({
  status: 409,
  code: 'too_many_pending_changes',
  cause: 'The organization has as many changes of gates and policies that wait for a second person as it can have.',
  remedy: 'Confirm or withdraw some of them.',
  message: (max: number) => `At most ${max} changes can wait for a second person.`,
})

export const secondPersonRequired = defineError({
  status: 409,
  code: 'second_person_required',
  cause:
    'A change of a gate or policy is confirmed by the person who proposed it, or by one who has become a member, or whose role ' +
    'was changed, since it was proposed.',
  remedy: 'Ask another person to confirm it, or withdraw it.',
  message: (why: string) => `${why} Another person must confirm it.`,
})

export const proposerRefused = defineError({
  status: 409,
  code: 'proposer_refused',
  cause: 'Who proposed a change of a gate or policy may not make it any more.',
  remedy: 'Withdraw it. Whoever may make it proposes it again.',
  message: 'Who proposed this change may not make it any more. Withdraw it and propose it again.',
})

export const operatorRequired = defineError({
  status: 409,
  code: 'operator_required',
  cause:
    'The default trust or the matching of components is set in an organization whose changes of gates and policies wait for a second person.',
  remedy: 'Ask the operator of the server for `shiplock-server org set ORG --default-trust` or `--inventory-matching`.',
  message:
    'Changes of gates and policies wait for a second person here, and this setting is changed by the operator of the ' +
    'server: shiplock-server org set --default-trust or --inventory-matching.',
})

export const tooManyPolicies = defineError({
  status: 409,
  code: 'too_many_policies',
  cause: 'The organization has as many policies as it can have.',
  remedy: 'Delete one that is not used.',
  message: (max: number) => `An organization can have at most ${max} policies.`,
})

export const notLive = defineError({
  status: 409,
  code: 'not_live',
  cause:
    'The end of a deployment is stated that does not run: it has not succeeded, a later one has replaced it, or it has ended.',
  remedy: 'List what runs with `GET /v1/deployments?live=true`.',
  message: 'The deployment does not run.',
})
