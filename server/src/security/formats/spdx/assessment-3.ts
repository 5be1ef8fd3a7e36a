import { type JsonObject, textOf } from '../../../platform/json/read-value.ts'
import { type CvssVersion, cvssVectorOf } from '../../vocabulary/cvss-vector.ts'
import { type Rating, ratingScore, severityInWords } from '../../vocabulary/rating.ts'
import { classOf, property } from './element-3.ts'

/** The version that a class of assessment stands for; that of version 3 tells 3.0 from 3.1 in its vector. */
const VERSION_OF_CLASS = new Map<string, CvssVersion>([
  ['CvssV4VulnAssessmentRelationship', '4.0'],
  ['CvssV3VulnAssessmentRelationship', '3.1'],
  ['CvssV2VulnAssessmentRelationship', '2.0'],
])

/** A relationship that rates a vulnerability by CVSS; null for any other. */
export function ratingOf(element: JsonObject): Rating | null {
  const stated = VERSION_OF_CLASS.get(classOf(element))
  if (stated === undefined || property(element, 'withdrawnTime') !== undefined) return null
  const vector = cvssVectorOf(textOf(property(element, 'vectorString')), stated)
  return {
    isOwn: false,
    severity: severityInWords(textOf(property(element, 'severity'))),
    score: ratingScore(property(element, 'score')),
    cvssVersion: vector?.version ?? stated,
    vector,
  }
}
