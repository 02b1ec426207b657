/** What the server asks of the engine. */
import type { Catalog, CatalogView } from '../catalog/catalog.ts'
import type { ObjectReference } from '../type/record.ts'

export interface InsertRequest {
  readonly body: Uint8Array
  readonly form: 'logs3' | 'events'
  readonly object?: ObjectReference
  readonly view: CatalogView
}

export interface InsertResult {
  readonly ids: string[]
  readonly transactionId: string
}

export interface QueryRequest {
  readonly query: string
  readonly from?: string
  readonly tzOffset?: number
  readonly version?: string
  readonly useColumnstore?: boolean
  readonly auditLog?: boolean
  readonly view: CatalogView
  readonly signal?: AbortSignal
  readonly separator?: ',\n' | '\n'
}

export interface RowChunk {
  readonly rowCount: number
  readonly bytes: Uint8Array
}

export interface QuerySummary {
  readonly rowCount: number
  readonly cursor?: string
  readonly lastTransactionId: string | null
  readonly auditLog?: object[]
}

export interface QueryResult {
  readonly schema: object
  readonly rows: AsyncIterable<RowChunk>
  finish(): QuerySummary
}

export interface Engine {
  readonly catalog: Catalog
  insert(request: InsertRequest): Promise<InsertResult>
  query(request: QueryRequest): Promise<QueryResult>
  explain(request: QueryRequest): Promise<string>
  close(): Promise<void>
}
