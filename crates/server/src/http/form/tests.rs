use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use futures::{executor::block_on, stream};
use proptest::prelude::*;

use super::*;

const FORM: &[u8] = b"--XyZ\r\nContent-Disposition: form-data; name=\"tags\"\r\n\r\na,b\r\n--XyZ\r\n\
    Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\n\
    one\r\n--Xy\r\ntwo\r\r\n--XyZ--\r\n";

fn pieces(bytes: &[u8], size: usize) -> Vec<Result<Bytes, Infallible>> {
    bytes.chunks(size.max(1)).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect()
}

type Read = Vec<(String, Option<String>, Vec<u8>)>;

fn read<S>(stream: S, boundary: &str) -> Result<Read, Fault>
where
    S: Stream<Item = Result<Bytes, Infallible>> + Unpin,
{
    block_on(async {
        let mut form = Form::new(stream, boundary);
        let mut parts = Vec::new();
        while let Some(part) = form.next_part().await? {
            let mut bytes = Vec::new();
            while let Some(piece) = form.next_piece().await? {
                bytes.extend_from_slice(&piece);
            }
            parts.push((part.name, part.file_name, bytes));
        }
        Ok(parts)
    })
}

#[test]
fn a_form_reads_the_same_however_it_is_cut() {
    let expected = vec![
        ("tags".to_string(), None, b"a,b".to_vec()),
        ("file".to_string(), Some("a.txt".to_string()), b"one\r\n--Xy\r\ntwo\r".to_vec()),
    ];
    for size in 1..=FORM.len() {
        assert_eq!(read(stream::iter(pieces(FORM, size)), "XyZ").unwrap(), expected, "pieces of {size}");
    }
    for at in 0..FORM.len() {
        let (first, rest) = FORM.split_at(at);
        let two = [first, rest].map(|piece| Ok(Bytes::copy_from_slice(piece)));
        assert_eq!(read(stream::iter(two), "XyZ").unwrap(), expected, "cut at {at}");
    }
}

/// A body that has nothing to give when it is first asked, and everything, with its end, when it is asked again.
struct Late(bool, Vec<Bytes>);

impl Stream for Late {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if !std::mem::replace(&mut self.0, true) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.1.pop().map(Ok))
    }
}

/// The library used before looked for the first boundary, asked for more, and took a body that had ended by then for one
/// that was cut off, although all of it had just come in: one small upload of thousands, when its packet came between.
#[test]
fn a_form_that_comes_whole_between_two_looks_is_not_cut_off() {
    assert_eq!(read(Late(false, vec![Bytes::from_static(FORM)]), "XyZ").unwrap().len(), 2);
}

#[test]
fn what_is_cut_off_or_no_form_is_refused() {
    for end in 0..FORM.len() - 2 {
        let refused = read(stream::iter(pieces(&FORM[..end], 7)), "XyZ").unwrap_err();
        assert_eq!(refused.reason, Reason::InvalidParameter, "ends at {end}");
    }
    for wrong in
        ["", "no form at all", "--XyZ--", "--XyZ junk\r\n\r\n\r\n--XyZ--", "--XyZ\r\na b\r\n\r\n\r\n--XyZ--"]
    {
        let read = read(stream::iter(pieces(wrong.as_bytes(), 5)), "XyZ");
        assert!(wrong == "--XyZ--" || read.is_err(), "{wrong}: {read:?}");
    }
}

fn reason(stream: impl Stream<Item = Result<Bytes, Infallible>> + Unpin) -> Reason {
    read(stream, "XyZ").unwrap_err().reason
}

/// Endless: whoever does not stop by itself does not end.
#[test]
fn a_boundary_that_never_comes_is_refused_early() {
    let junk = Bytes::from(vec![b'-'; 16 * 1024]);
    assert_eq!(reason(stream::repeat_with(move || Ok(junk.clone()))), Reason::TooLarge);
    let start = stream::iter([Ok(Bytes::from_static(b"--XyZ\r\nContent-Disposition: "))]);
    let endless_head = start.chain(stream::repeat_with(|| Ok(Bytes::from_static(b"x"))));
    assert_eq!(reason(endless_head), Reason::TooLarge);
}

#[test]
fn endless_parts_and_endless_ends_are_refused() {
    let part = Bytes::from_static(b"--XyZ\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\ny\r\n");
    assert_eq!(reason(stream::repeat_with(move || Ok(part.clone()))), Reason::TooLarge);
    let junk = Bytes::from(vec![b'x'; 1024]);
    let end = stream::iter([Ok(Bytes::from_static(b"--XyZ--"))]);
    assert_eq!(reason(end.chain(stream::repeat_with(move || Ok(junk.clone())))), Reason::TooLarge);
}

#[test]
fn names_are_read_as_browsers_and_other_clients_write_them() {
    for (written, name, file_name) in [
        (r#"form-data; name="file"; filename="a b.txt""#, "file", Some("a b.txt")),
        ("form-data; name=file; filename=a.txt", "file", Some("a.txt")),
        (r#"form-data; filename="x; name=y.txt"; name="file""#, "file", Some("x; name=y.txt")),
        (r#"form-data; name="file"; filename="say %22hi%22.txt""#, "file", Some("say \"hi\".txt")),
        (r#"form-data; name="file"; filename="say \"hi\".txt""#, "file", Some("say \"hi\".txt")),
        (r#"form-data; name="file"; filename="C:\dir\a.txt""#, "file", Some("C:\\dir\\a.txt")),
        ("form-data; name=\"file\"; filename=\"höhe.txt\"", "file", Some("höhe.txt")),
        (
            r#"form-data; name="file"; filename="h.txt"; filename*=UTF-8''h%C3%B6he+1.txt"#,
            "file",
            Some("höhe+1.txt"),
        ),
        (r#"form-data; name="tags""#, "tags", None),
        (r#"form-data; name="unclosed"#, "unclosed", None),
        ("form-data", "", None),
    ] {
        let head = format!("\r\nContent-Disposition: {written}\r\n\r\n");
        let part = read_head(head.as_bytes()).unwrap();
        assert_eq!((part.name.as_str(), part.file_name.as_deref()), (name, file_name), "{written}");
    }
}

proptest! {
    #[test]
    fn whatever_a_file_holds_comes_out_again(content in proptest::collection::vec(
        prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'-'), Just(b'X'), any::<u8>()], 0..300), size in 1usize..40)
    {
        let head = b"--XX\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n";
        prop_assume!(memmem::find(&content, b"\r\n--XX").is_none());
        let form = [&head[..], &content, b"\r\n--XX--\r\n"].concat();
        prop_assume!(memmem::find(&form[head.len() - 2..], b"\r\n--XX") == Some(content.len() + 2));
        let parts = read(stream::iter(pieces(&form, size)), "XX").unwrap();
        prop_assert_eq!(&parts[0].2, &content);
    }

    #[test]
    fn no_bytes_make_it_panic(form in proptest::collection::vec(any::<u8>(), 0..300), size in 1usize..40) {
        let form = [&b"--X\r\nContent-Disposition: "[..], &form].concat();
        let _ = read(stream::iter(pieces(&form, size)), "X");
    }
}
