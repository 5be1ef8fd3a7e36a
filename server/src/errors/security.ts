import { defineError } from '../platform/http/api-error.ts'

/** Uploads of reports, issues, findings, alerts and triages. */

export const repositoryAmbiguous = defineError({
  status: 400,
  code: 'REPOSITORY_AMBIGUOUS',
  cause: 'The repository name exists on more than one provider.',
  remedy: 'Send the provider and the id of the repository.',
  message: (name: string, _providers: string[]) =>
    `More than one code host has a repository named ${name}. Send its provider and id.`,
  details: (_name, providers) => ({ reason: 'REPOSITORY_AMBIGUOUS', providers: [...new Set(providers)] }),
})

export const differentRepositories = defineError({
  status: 409,
  code: 'different_repositories',
  cause: 'The issues that are to be merged belong to different repositories.',
  remedy: 'Merge issues of one repository.',
  message: 'The issues belong to different repositories.',
})

export const fileMissing = defineError({
  status: 409,
  code: 'file_missing',
  cause: 'The upload was completed before its file was PUT. It is still pending.',
  remedy: 'PUT the file, then complete the upload.',
  message: 'The file has not been sent. Send it with a PUT request, then complete the upload again.',
})

export const findingNotInIssue = defineError({
  status: 409,
  code: 'finding_not_in_issue',
  cause: 'The findings in `details.findingIds` do not belong to the issue that is to be split.',
  remedy: 'Read the findings of the issue.',
  message: (issueId: string, findingIds: string[]) =>
    `The finding ${findingIds[0]} does not belong to the issue ${issueId}.`,
  details: (_issueId, findingIds) => ({ findingIds }),
})

export const issueMerged = defineError({
  status: 409,
  code: 'issue_merged',
  cause: 'The issue was merged into the issue `details.mergedInto`.',
  remedy: 'Send that issue.',
  message: (id: string, mergedInto: string) => `The issue ${id} was merged into the issue ${mergedInto}.`,
  details: (_id, mergedInto) => ({ mergedInto }),
})

export const notConnected = defineError({
  status: 409,
  code: 'not_connected',
  cause: 'The repository of the alert is not connected, so that its code host cannot be told.',
  remedy: 'Connect the repository.',
  message: (repository: string, _alertId: string) => `The repository ${repository} is not connected.`,
  details: (_repository, alertId) => ({ ids: [alertId] }),
})

export const notDismissed = defineError({
  status: 409,
  code: 'not_dismissed',
  cause: 'Something to reopen is not dismissed. `details.ids` names it.',
  remedy: 'Leave it out.',
})

export const notOpen = defineError({
  status: 409,
  code: 'not_open',
  cause: 'Something to dismiss is fixed, or a person has dismissed it. `details.ids` names it.',
  remedy: 'Leave it out.',
})

export const notProposed = defineError({
  status: 409,
  code: 'not_proposed',
  cause:
    'Nothing of the upload waits to be confirmed: its VEX document or a newer one is in effect; its report holds nothing, is cut, or is not the newest.',
  remedy: 'Read the upload.',
  message: 'Nothing of the upload waits to be confirmed.',
})

export const uploaderRefused = defineError({
  status: 409,
  code: 'uploader_refused',
  cause: 'Whoever sent the VEX document wants to confirm it, or a key of the same person.',
  remedy: 'Ask another person, or use a key that another person has made.',
  message: 'Who has sent the document cannot confirm it.',
})

export const otherStream = defineError({
  status: 409,
  code: 'other_stream',
  cause: 'The stream that is to be taken over has another repository, tool, category or ref, or is the same stream.',
  remedy: 'Take over one of the streams in `can_take_over`, or end the stream.',
  message: 'The streams are not of the same repository, tool, category and ref.',
})

export const weakerStream = defineError({
  status: 409,
  code: 'weaker_stream',
  cause: 'The stream that is to be taken over is stronger: whoever reports to it can be trusted more.',
  remedy: 'Let the stronger stream take over the weaker one.',
  message: 'A stream cannot take over a stronger one.',
})

export const streamEnded = defineError({
  status: 409,
  code: 'stream_ended',
  cause: 'The stream has been ended, and no report was sent to it since.',
  remedy: 'Read the stream.',
  message: 'The stream has ended.',
})

export const statedByDocument = defineError({
  status: 409,
  code: 'stated_by_document',
  cause: 'A VEX document states the triage, so that nobody can undo it.',
  remedy: 'Reopen its findings.',
  message: 'A VEX document states this triage. Reopen its findings, or upload a newer version of the document.',
})

export const triageEnded = defineError({
  status: 409,
  code: 'triage_ended',
  cause: 'The triage was undone or has expired.',
  remedy: 'Read the triage.',
  message: (endedAs: string) => `The triage is ${endedAs}.`,
})

export const triagedAgain = defineError({
  status: 409,
  code: 'triaged_again',
  cause: 'Something that the triage changed was triaged later, by the triages in `details.ids`.',
  remedy: 'Undo the later triages first.',
  message: (_laterIds: string[]) =>
    'Something that the triage changed was triaged again. Undo the later triages first.',
  details: (laterIds) => ({ ids: laterIds }),
})

export const sbomTooLarge = defineError({
  status: 409,
  code: 'sbom_too_large',
  cause: 'The bills of materials about a repository have more components than one document can have.',
  remedy: 'Export one category at a time, with `category`.',
  message: (max: number) => `The documents have more than ${max} components. Export one category at a time.`,
})

export const unknownVulnerability = defineError({
  status: 404,
  code: 'unknown_vulnerability',
  cause: 'No advisory, catalog or finding names the vulnerability. `details.as_of` says how old the imported data is.',
  remedy: 'Check the id. Import advisories that are newer.',
  message: (id: string, _asOf: Record<string, string | null>) => `Nothing that is stored names ${id}.`,
  details: (_id, asOf) => ({ as_of: asOf }),
})
