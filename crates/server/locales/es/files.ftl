files-receipt = Comprobante
files-further = y { $count } más; el registro de auditoría nombra cada uno.
files-deleted-hint = Lo eliminado ya no se puede encontrar, leer ni descargar.
files-upload = Subir
files-drop = Suelte aquí archivos o carpetas
files-drop-hint = o elíjalos · hasta { $size } cada uno · PDF, Word, Excel, PowerPoint, correo, páginas web, texto, imágenes y más
files-choose-files = Elegir archivos
files-choose-folder = Elegir una carpeta
files-add-text = Añadir texto
files-add-a-text = Añadir un texto
files-add-or-address = Añadir un texto o una dirección web
files-example = Horario de atención
files-text = Texto
files-plain = Texto sin formato o Markdown
files-web-address = Dirección web
files-fetch = Obtener
files-retry-failed = Reintentar los fallidos
files-cancel-all = Cancelar todo
files-clear = Limpiar
files-failed-uploads = Subidas fallidas
files-uploads = Subidas
files-none = Todavía no hay archivos
files-none-how = Suelte algunos arriba. En cuanto el primero esté listo, podrá <a href="/boxes/{ $box }/chat">hacer preguntas sobre él</a>.
files-editors-add = Los editores de esta caja pueden añadir archivos.
files-filter-files = Filtrar archivos
files-name-part = Parte del nombre
files-status = Estado
files-any-status = Cualquier estado
files-status-ready = Listo
files-status-warnings = Listo, con advertencias
files-in-progress = En curso
files-status-failed = Con error
files-label = Etiqueta
files-filter = Filtrar
files-show-all = Mostrar todos
files-retry-all = Volver a procesar todos los archivos con error
files-select-files = Seleccione archivos para etiquetarlos, volver a procesarlos o eliminarlos.
files-labels-to-add = Etiquetas que añadir
files-labels-to-add-example = etiquetas que añadir
files-add-labels = Añadir etiquetas
files-reprocess = Volver a procesar
files-delete-confirm = ¿Eliminar definitivamente los archivos seleccionados?
files-delete = Eliminar
files-select-all = Seleccionar todo en esta página
files-state = Estado
files-select = Seleccionar { $name }
files-pages-read = Páginas leídas
files-no-match = Ningún archivo coincide.
files-first-page = Primera página
files-more-files = Más archivos
files-status-queued = En espera
files-status-processing = En proceso
files-status-deleting = Eliminándose
files-not-processed = no se pudo procesar
files-column-name = Nombre
files-column-pages = Páginas
files-column-size = Tamaño
files-column-added = Añadido
files-original-kept = el original se conserva para otro archivo de esta caja, { $pages }, { $passages }, { $vectors }
files-original-gone = el original, { $pages }, { $passages }, { $vectors }
files-labelled = { $count ->
        [one] { $count } archivo etiquetado.
       *[other] { $count } archivos etiquetados.
    }
files-reprocessed = { $count ->
        [one] { $count } archivo se está procesando de nuevo.
       *[other] { $count } archivos se están procesando de nuevo.
    }
files-deleted = { $count ->
        [one] { $count } archivo eliminado.
       *[other] { $count } archivos eliminados.
    }
files-recognised = Reconocido en una imagen
files-recognised-sure = Reconocido en una imagen, seguro al { $percent } %
files-with-structure = Leído con su estructura
files-as-text = Leído como texto sin formato
files-report = Informe
files-facts = { $kind } · { $size } · { $pages } páginas · { $passages }
files-in-language = idioma { $language }
files-original = Original
files-download = Descargar
files-processing-report = Informe de procesamiento
files-found = Lo encontrado
files-previous-hit = Resultado anterior
files-next-hit = Resultado siguiente
files-back-to-found = Volver a lo encontrado
files-no-text = No se pudo leer ningún texto.
files-no-text-yet = Todavía no hay texto.
files-about = Sobre este archivo
files-searchable = Se puede buscar desde
files-folder = Carpeta
files-id = Id del archivo
files-change = Cambiar
files-labels = Etiquetas
files-metadata = Metadatos
files-key-number = Clave { $number }
files-value-of = Valor de { $key }
files-new-key = Clave nueva
files-key = clave
files-new-value = Valor nuevo
files-value = valor
files-metadata-hint = Las búsquedas pueden filtrar por estos. Una entrada sin clave se ignora.
files-delete-one-confirm = ¿Eliminar { $name } definitivamente?
files-report-of = Informe de procesamiento de <a href="/boxes/{ $box }/files/{ $file }">{ $name }</a>
files-read-of = Lectura: { $read } de { $total }
files-read-recognised = { $count ->
        [one] { $count } reconocida en una imagen
       *[other] { $count } reconocidas en imágenes
    }
files-read-blank = { $count } sin texto
files-read-warned = { $count ->
        [one] { $count } con una advertencia
       *[other] { $count } con advertencias
    }
files-how = Cómo
files-characters = Caracteres
files-tables = Tablas
files-warnings = Advertencias
files-nothing-read = No se leyó nada de este archivo.
files-more-pages = Más páginas
files-previous-page = Página anterior
files-next-page = Página siguiente
files-page-of = página { $page } de { $total }
files-go-to-page = Ir a la página
files-go = Ir
files-picture-of-page = Imagen de la página
files-enlarge = Ampliar
files-picture-alt = Página { $page } de { $name }
files-quote = La cita en la página
files-text-of-page = Texto de la página
files-open = Abrir el archivo aquí
files-select-everything = { $count ->
        [one] Seleccionar { $count } archivo
       *[other] Seleccionar los { $count } archivos
    }
