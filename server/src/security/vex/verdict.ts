import type { VexStatus } from '../formats/report/vex-statement.ts'
import { collectDigests } from '../vocabulary/stream-name.ts'
import type { StatedDismissal } from './stated-triage.store.ts'
import {
  getKeys,
  getPackageKey,
  hasStated,
  isAbout,
  isImage,
  listSubjectNames,
  matchProduct,
  type OwnRepository,
  type Product,
  parseStatedPackage,
  toComparedIds,
} from './statement-match.ts'
import type { AppliedDocument, AppliedStatement, JudgedFacts } from './verdict.store.ts'

/** The statement that decides about a finding. */
export type Verdict = {
  document: AppliedDocument
  status: VexStatus
  justification: string | null
  comment: string | null
  at: number
  /** 2 for one version of a package, 1 for a package, 0 for the repository. */
  precision: number
}

/** A finding with its ids as they are compared with those of statements. */
type JudgedFinding = JudgedFacts & { names: string[] }

/** A repository with what its reports are about. */
type JudgedRepository = OwnRepository & { subjects: readonly string[] }

/** Finds the statement that decides about each finding. */
export class Judge {
  readonly #repository: OwnRepository
  readonly #ownPackages: ReadonlySet<string>
  readonly #byName: ReadonlyMap<string, FindingsByPackage>
  /** What reports of the repository are about, such as its images. */
  readonly #subjects: ReadonlySet<string>
  readonly verdicts = new Map<string, Verdict>()
  /** The number of statements that match a finding, by their document. */
  readonly matched = new Map<string, number>()

  /** `packages` are the identities of the packages in which the repository has findings. */
  constructor(repository: JudgedRepository, packages: ReadonlySet<string>, findings: readonly JudgedFinding[]) {
    this.#repository = repository
    this.#ownPackages = packages
    this.#subjects = new Set(repository.subjects)
    const named = findings.flatMap((finding) => finding.names.map((name) => ({ name, finding })))
    const byName = Map.groupBy(named, ({ name }) => name)
    this.#byName = new Map(
      [...byName].map(([name, of]) => [
        name,
        Map.groupBy(
          of.map(({ finding }) => finding),
          getPackageKey,
        ),
      ]),
    )
  }

  /** Considers a statement. The order of the statements does not matter. */
  hear(statement: AppliedStatement, document: AppliedDocument): void {
    const names = new Set(toComparedIds(statement.names))
    if (!names.values().some((name) => this.#byName.has(name))) return
    const subject = this.#toSubject(statement, toDismissal({ ...statement, document }))
    if (subject === null) return
    const found = new Set([...names].flatMap((name) => this.#selectFindings(name, subject)))
    const verdict = toVerdict(statement, document, subject)
    const about = [...found].filter(
      (finding) => hasStated(names, finding.names) && isInScope(document, finding) && subject.isAbout(finding),
    )
    if (about.length > 0) this.matched.set(document.id, (this.matched.get(document.id) ?? 0) + 1)
    for (const finding of about) {
      const other = this.verdicts.get(finding.id)
      if (other === undefined || isStronger(verdict, other)) this.verdicts.set(finding.id, verdict)
    }
  }

  /** The findings of a vulnerability that a statement can be about. */
  #selectFindings(name: string, { keys }: Subject): JudgedFinding[] {
    const findings: FindingsByPackage = this.#byName.get(name) ?? new Map()
    return [...(keys ?? findings.keys())].flatMap((key) => findings.get(key) ?? [])
  }

  /**
   * What a statement is about in this repository; null if it is about nothing in it. A package in
   * another product is another matter: it may be used in a way that is not affected there.
   */
  #toSubject({ package: purl, product }: AppliedStatement, dismissal: StatedDismissal | null): Subject | null {
    const whole = matchProduct(product, this.#repository)
    const subjects = listSubjectNames(product).filter((name) => this.#subjects.has(name))
    if (isImage(product) || (whole.is === 'unknown' && subjects.length > 0))
      return subjectOfReports(
        { names: subjects, digests: collectDigests([product]) },
        purl === product ? null : purl,
        dismissal,
      )
    const isProductOnly = purl === null || (purl === product && whole.is === 'repository')
    if (isProductOnly) return whole.is === 'repository' ? repositorySubject(whole.version) : null
    const stated = parseStatedPackage(purl)
    if (stated === null || (product !== purl && this.#isElsewhere(product, whole))) return null
    const precision = stated.version === null ? 1 : 2
    return { precision, keys: getKeys(stated), isAbout: (finding) => isAbout(stated, finding) }
  }

  /** True if the product is another repository, or a package that this repository depends on. */
  #isElsewhere(product: string | null, whole: Product): boolean {
    if (whole.is !== 'unknown') return whole.is === 'other repository'
    const stated = product === null ? null : parseStatedPackage(product)
    return stated !== null && this.#ownPackages.has(stated.identity)
  }
}

type FindingsByPackage = ReadonlyMap<string, JudgedFinding[]>

/** `keys` are those of the packages that it can be about, and null for all packages. */
type Subject = { precision: number; keys: readonly string[] | null; isAbout: (finding: JudgedFacts) => boolean }

const COMMIT_CHARS_MIN = 7

/** A version of the repository is a branch, a tag or a commit. */
function repositorySubject(version: string | null): Subject {
  if (version === null) return { precision: 0, keys: null, isAbout: () => true }
  const isCommit = (sha: string | null) => sha !== null && version.length >= COMMIT_CHARS_MIN && sha.startsWith(version)
  const isRef = (ref: string | null) => ref !== null && ref.replace(/^refs\/tags\//, '') === version
  return { precision: 0, keys: null, isAbout: ({ ref, commit_sha }) => isRef(ref) || isCommit(commit_sha) }
}

/**
 * A package in reports about these images or other subjects, or all of their findings. Of two
 * digests, both must be the same (decisions §8). Subjects
 * were not stored once: a statement about the package that had dismissed a finding then still does.
 */
function subjectOfReports(
  { names, digests }: { names: readonly string[]; digests: readonly string[] | undefined },
  purl: string | null,
  dismissal: StatedDismissal | null,
): Subject | null {
  const stated = purl === null ? null : parseStatedPackage(purl)
  if (purl === null ? names.length === 0 : stated === null) return null
  const isOfReport = ({ subject, digests: own }: JudgedFacts) =>
    subject !== null && names.includes(subject) && (!digests || !own || digests.some((digest) => own.includes(digest)))
  if (stated === null) return { precision: 0, keys: null, isAbout: isOfReport }
  const isKept = ({ subject, stated: before }: JudgedFacts) =>
    subject === null && before !== null && dismissal !== null && isRepeated(dismissal, before)
  const precision = stated.version === null ? 1 : 2
  const isAboutFinding = (finding: JudgedFacts) => (isOfReport(finding) || isKept(finding)) && isAbout(stated, finding)
  return { precision, keys: getKeys(stated), isAbout: isAboutFinding }
}

/** Whether a document states what had dismissed a finding. Its sender was not stored once. */
function isRepeated(dismissal: StatedDismissal, { source, reason, comment, by }: StatedDismissal): boolean {
  const isSame = dismissal.source === source && dismissal.reason === reason && dismissal.comment === comment
  return isSame && (by === null || by === dismissal.by)
}

/** A document of the tracked branch is about the whole repository, any other about its own ref. */
function isInScope({ tracked, ref }: AppliedDocument, finding: JudgedFacts): boolean {
  return tracked || ref === finding.ref
}

/** A statement cannot have been made after its document was uploaded. */
function toVerdict(statement: AppliedStatement, document: AppliedDocument, { precision }: Subject): Verdict {
  const { status, justification, comment, stated_at } = statement
  const at = Math.min((stated_at ?? document.issued_at).getTime(), document.reported_at.getTime())
  return { document, status, justification, comment, at, precision }
}

/** The more cautious status is further left. */
const CAUTION: VexStatus[] = ['affected', 'under_investigation', 'not_affected', 'fixed']

/** The newer statement counts; of one time, the more precise one, or else the more cautious. */
function isStronger(verdict: Verdict, other: Verdict): boolean {
  if (verdict.at !== other.at) return verdict.at > other.at
  if (verdict.precision !== other.precision) return verdict.precision > other.precision
  return CAUTION.indexOf(verdict.status) < CAUTION.indexOf(other.status)
}

const REASON_MAX = 100

/** The dismissal that a verdict causes; null if the finding matters. */
export function toDismissal(verdict: Omit<Verdict, 'at' | 'precision'>): StatedDismissal | null {
  const { document, status, justification, comment } = verdict
  if (status !== 'not_affected' && status !== 'fixed') return null
  const reason = status === 'fixed' ? 'fixed' : (justification ?? 'not_affected').slice(0, REASON_MAX)
  return { source: document.format, reason, comment, by: document.stated_by_name }
}
