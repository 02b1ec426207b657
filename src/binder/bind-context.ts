import type { CatalogView } from '../catalog/catalog.ts'
import type { ExpressionContext } from './bind-expression.ts'
import type { KnownFields } from './known-fields.ts'

/** What a query is bound in. */
export interface BindContext extends ExpressionContext {
  readonly view: CatalogView
  knownFields(objectNumber: number): KnownFields
  /** Levels of objects that `infer` enters. */
  readonly inferenceDepth?: number
  /** Whether the request asks for a log. */
  readonly auditLog?: boolean
}
