import type { SecurityUpload } from './upload-item.ts'

/** The findings of the report's repository, branch and category. */
export function findingsSearch({ repository, provider, git_ref, category }: SecurityUpload) {
  return {
    repository,
    provider: provider ?? undefined,
    branch: git_ref?.replace(/^refs\/heads\//, '') ?? undefined,
    category: category ?? undefined,
  }
}

/** The issues of the report's repository. */
export function issuesSearch({ repository, provider }: SecurityUpload) {
  return { repository, provider: provider ?? undefined }
}
