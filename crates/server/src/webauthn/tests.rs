use super::*;

/// What the browser was asked to have signed.
const CHALLENGE: &[u8] = b"a challenge of thirty-two bytes!";
const HOST: &str = "quire.example.org";

/// A passkey of an authenticator, and a signature of it, in base64.
struct Made {
    name: &'static str,
    attestation: &'static str,
    data: &'static str,
    signature: &'static str,
}

/// What authenticators of several kinds made for [`CHALLENGE`], with keys that were thrown away: a new passkey, and a use of it.
const MADE: [Made; 4] = [
    Made {
        name: "ES256",
        attestation: "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViUPElykPrF9fHJc9HTVJnRD8gr_mHlKncQuzvS-cGBhCVF\
             AAAAAAAAAAAAAAAAAAAAAAAAAAAAEAABAgMEBQYHCAkKCwwNDg-lAQIDJiABIVggJX_c_99PhYtSexfiqM09\
             aKaWp8xAahZiqGPXA3cQi-IiWCAmARJZHafcsif7_egIV2ITagLivkjWiLMYHunm1xBoqA",
        data: "PElykPrF9fHJc9HTVJnRD8gr_mHlKncQuzvS-cGBhCUFAAAABQ",
        signature: "MEQCIDIaeL_0fP6Wfpvdt9c8NrWTgAEBxzIuSMuHovpQPktLAiBaaCWU6gXV5npYcKkT4LnsRus-Yu2p_7BW\
             DluRMjZLUg",
    },
    Made {
        name: "ES256, which signed itself",
        attestation: "o2NmbXRmcGFja2VkZ2F0dFN0bXSiY2FsZyZjc2lnWEcwRQIhAOsXAMvPeNlRT0CjXqPyct2oUOm2hmEP_yEK\
             TmIiqQ6LAiAQaAn7qjjs9yCC1osqu_mmIYzc5CIgoIsKjEiaw73e7mhhdXRoRGF0YVikPElykPrF9fHJc9HT\
             VJnRD8gr_mHlKncQuzvS-cGBhCVdAAAAAAAAAAAAAAAAAAAAAAAAAAAAIAABAgMEBQYHCAkKCwwNDg8QERIT\
             FBUWFxgZGhscHR4fpQECAyYgASFYICV_3P_fT4WLUnsX4qjNPWimlqfMQGoWYqhj1wN3EIviIlggJgESWR2n\
             3LIn-_3oCFdiE2oC4r5I1oizGB7p5tcQaKg",
        data: "PElykPrF9fHJc9HTVJnRD8gr_mHlKncQuzvS-cGBhCUdAAAABQ",
        signature: "MEYCIQDyqSSEl1qy-X20qEIWrmrhI8GWZn5N2XzD5MwjIrVGKQIhAMUB5gjnvBH5Vo8-5XaW6dL7zhBJkVs2\
             GhYido7c_EjN",
    },
    Made {
        name: "Ed25519, with an extension",
        attestation: "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVivPElykPrF9fHJc9HTVJnRD8gr_mHlKncQuzvS-cGBhCXN\
             AAAAAAAAAAAAAAAAAAAAAAAAAAAAQAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fICEiIyQlJico\
             KSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj-kAQEDJyAGIVggZSetTzNgHUG0Xd28xlQSvSA_QPpD_NnCbRpZgEP3\
             Hfuha2NyZWRQcm90ZWN0Ag",
        data: "PElykPrF9fHJc9HTVJnRD8gr_mHlKncQuzvS-cGBhCUNAAAABQ",
        signature: "7UvflYKYVTUJFa6zG5ugK--pJ_YfC2JXibRLQnAA331JRq5dy8WUh0csRZFClg1YeQB9Nq5RzI-1ogjJ8jBd\
             Ag",
    },
    Made {
        name: "RS256",
        attestation: "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVkBZzxJcpD6xfXxyXPR01SZ0Q_IK_5h5Sp3ELs70vnBgYQl\
             RQAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eH6QBAwM5AQAg\
             WQEAtThh5p02YF79MaNZcbtmInm2Tv7_X0zdX6zxNW-QU0e6W8C-m3P9QWzKrTjmEKS9cW6j1TKwpqXxnxsU\
             rPHS4ni2JaOTb6yLTsSlwgCg-ao602A6qf0MNmnT1NG1qwKj1Eiy82cl4o6JyN7-eMIiP6l1SXx0gnGX3vlE\
             QP0apFVdzdY2oLhtLzwpSsyeY9oyLiMyBaXeFvwzjcn7GVuU3uLzY1S1xaU9DBPw0p4njp-9F4DgoGKmXB-u\
             Sbz4Sq9_eFKjcXpm1f6bDqfqDBBg1qi0U32nRcZfSSIgEyzspEuNd7rtfzEfAoUVMqKB45vGGU6VM7QHdJpN\
             4trgSrqusSFDAQAB",
        data: "PElykPrF9fHJc9HTVJnRD8gr_mHlKncQuzvS-cGBhCUFAAAABQ",
        signature: "UEiI8HPlCW6K454BtyeaG38il3DIBjcMKzT_l6Fncek3idfGT-LHjY2GthfsMDP_SmurNSiBYteO4UB0dzRh\
             muzt0PQHlflN90Y9r1Li7hgyZCTSbaw-4n1M1gjDfcHL4zJsNFOPSfOwg12XMSPgSUOprCMbo_FJJVD0ou7K\
             3IRq2EAzDi2ouquud_z46jRl7O6b7ZnFbtzISm_IHR6DcYzXCqHCVvqW982l0YEfnc3AUKz6Xqz_oC_fRydz\
             _p4A8WbDTGdrKbhOVVZBARSJJEQb0UbP8UQHy3FdA4_1fZLR2kTObJnxA3EVY9eko9Ub9dBagBdqWtzMg_YN\
             Y4Ue3g",
    },
];

fn bytes(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).unwrap()
}

fn site() -> Site {
    Site::of("https://quire.example.org").unwrap()
}

fn ours(challenge: &[u8]) -> Option<()> {
    (challenge == CHALLENGE).then_some(())
}

/// What a browser says that it was asked for, on the page of an origin.
fn client(kind: &str, origin: &str) -> Vec<u8> {
    let challenge = URL_SAFE_NO_PAD.encode(CHALLENGE);
    let text = format!(
        r#"{{"type":"webauthn.{kind}","challenge":"{challenge}","origin":"{origin}","crossOrigin":false}}"#
    );
    text.into_bytes()
}

fn registered(attestation: &[u8]) -> Result<Registered, Refused> {
    register(&site(), &client("create", "https://quire.example.org"), attestation, ours)
        .map(|(made, ())| made)
}

fn signed(made: &Made) -> Signed {
    Signed {
        client_data: client("get", "https://quire.example.org"),
        authenticator_data: bytes(made.data),
        signature: bytes(made.signature),
    }
}

fn count(public_key: &[u8], signed: &Signed) -> Result<u32, Refused> {
    verify(&site(), public_key, signed, ours).map(|(count, ())| count)
}

#[test]
fn passkeys_of_every_kind_are_taken_and_so_are_their_signatures() {
    for made in &MADE {
        let passkey = registered(&bytes(made.attestation)).expect(made.name);
        assert_eq!(passkey.sign_count, 0, "{}", made.name);
        let length = passkey.credential.len();
        assert_eq!(passkey.credential, (0..length as u8).collect::<Vec<_>>(), "{}", made.name);
        assert_eq!(count(&passkey.public_key, &signed(made)), Ok(5), "{}", made.name);
    }
}

#[test]
fn a_signature_is_of_one_key_and_of_every_bit() {
    for (at, made) in MADE.iter().enumerate() {
        let key = registered(&bytes(made.attestation)).unwrap().public_key;
        let other = registered(&bytes(MADE[(at + 2) % 4].attestation)).unwrap().public_key;
        assert_eq!(count(&other, &signed(made)), Err(Refused::Signature), "{}", made.name);
        for part in 0..3 {
            let mut changed = signed(made);
            let (bytes, place) = match part {
                // A blank at the end leaves its meaning, but not what was signed.
                0 => (&mut changed.client_data, None),
                // The count.
                1 => (&mut changed.authenticator_data, Some(36)),
                _ => (&mut changed.signature, Some(20)),
            };
            match place {
                Some(place) => bytes[place] ^= 1,
                None => bytes.push(b' '),
            }
            assert_eq!(count(&key, &changed), Err(Refused::Signature), "{} {part}", made.name);
        }
        let cut = Signed { signature: Vec::new(), ..signed(made) };
        assert_eq!(count(&key, &cut), Err(Refused::Signature), "{}", made.name);
    }
}

#[test]
fn what_the_browser_says_must_be_of_our_page_and_our_challenge() {
    let challenge = URL_SAFE_NO_PAD.encode(CHALLENGE);
    let other = URL_SAFE_NO_PAD.encode([7; 32]);
    let made = |kind: &str, challenge: &str, origin: &str, more: &str| {
        format!(r#"{{"type":"{kind}","challenge":"{challenge}","origin":"{origin}"{more}}}"#)
    };
    let (create, home) = ("webauthn.create", "https://quire.example.org");
    let attestation = bytes(MADE[0].attestation);
    for (text, wanted) in [
        (made(create, &challenge, home, ""), None),
        (made(create, &challenge, home, r#","crossOrigin":false,"later":[1]"#), None),
        (made("webauthn.get", &challenge, home, ""), Some(Refused::Kind)),
        (made(create, &other, home, ""), Some(Refused::Challenge)),
        (made(create, "", home, ""), Some(Refused::Challenge)),
        (made(create, &format!("{challenge}="), home, ""), Some(Refused::Challenge)),
        (made(create, &challenge, "https://quire.example.org:8443", ""), Some(Refused::Origin)),
        (made(create, &challenge, "http://quire.example.org", ""), Some(Refused::Origin)),
        (made(create, &challenge, "https://quire.example.org.evil.example", ""), Some(Refused::Origin)),
        (made(create, &challenge, home, r#","crossOrigin":true"#), Some(Refused::Origin)),
        (made(create, &challenge, home, r#","crossOrigin":1"#), Some(Refused::Unreadable)),
        (
            made(create, &challenge, home, r#","origin":"https://quire.example.org""#),
            Some(Refused::Unreadable),
        ),
        ("{}".into(), Some(Refused::Unreadable)),
        (String::new(), Some(Refused::Unreadable)),
    ] {
        let found = register(&site(), text.as_bytes(), &attestation, ours).map(drop).err();
        assert_eq!(found, wanted, "{text}");
    }
}

/// The attestation of [`MADE`] with another `authData`.
fn with_data(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let attestation = bytes(MADE[0].attestation);
    let (object, _) = cbor::read(&attestation).unwrap();
    let Some(Value::Bytes(data)) = object.at(&Value::Text("authData")) else { panic!("no data") };
    let mut data = data.to_vec();
    change(&mut data);
    let head = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58";
    [&head[..], &[data.len() as u8], &data].concat()
}

#[test]
fn an_authenticator_must_have_verified_somebody_for_this_host() {
    type Change = fn(&mut Vec<u8>);
    let changes: [(Change, Option<Refused>); 11] = [
        (|_| {}, None),
        (|data| data[0] ^= 1, Some(Refused::Host)),
        (|data| data[32] &= !PRESENT, Some(Refused::Absent)),
        (|data| data[32] &= !VERIFIED, Some(Refused::Unverified)),
        (|data| data[32] |= BACKED_UP, Some(Refused::Unreadable)),
        (|data| data[32] |= WITH_EXTENSIONS, Some(Refused::Unreadable)),
        (|data| data[32] &= !WITH_KEY, Some(Refused::Unreadable)),
        (|data| data.truncate(37), Some(Refused::Unreadable)),
        (|data| data.push(0), Some(Refused::Unreadable)),
        // One byte less than a name must have.
        (
            |data| {
                data.remove(55);
                data[54] = 15;
            },
            Some(Refused::Unreadable),
        ),
        // The algorithm: ES384.
        (
            |data| {
                let at = data.windows(2).position(|part| part == [3, 0x26]).unwrap();
                drop(data.splice(at + 1..at + 2, [0x38, 34]));
            },
            Some(Refused::Key),
        ),
    ];
    for (number, (change, wanted)) in changes.into_iter().enumerate() {
        assert_eq!(registered(&with_data(change)).err(), wanted, "{number}");
    }
    let mut other = bytes(MADE[0].data);
    other[32] = PRESENT;
    let key = registered(&bytes(MADE[0].attestation)).unwrap().public_key;
    let signed = Signed { authenticator_data: other, ..signed(&MADE[0]) };
    assert_eq!(count(&key, &signed), Err(Refused::Unverified));
}

#[test]
fn attestations_of_makers_are_not_taken() {
    let none = bytes(MADE[0].attestation);
    let at = none.windows(4).position(|part| part == b"none").unwrap();
    let mut other = none.clone();
    other[at..at + 4].copy_from_slice(b"tpm?");
    assert_eq!(registered(&other), Err(Refused::Attestation));
    let mut packed = bytes(MADE[1].attestation);
    // The last byte of the signature stands before the name of the data.
    let at = packed.windows(9).position(|part| part == b"\x68authData").unwrap();
    packed[at - 1] ^= 1;
    assert_eq!(registered(&packed), Err(Refused::Signature));
}

#[test]
fn passkeys_need_https_and_a_name() {
    for (address, host, origin) in [
        ("https://quire.example.org", HOST, "https://quire.example.org"),
        ("https://Quire.Example.org:443/", HOST, "https://quire.example.org"),
        ("https://quire.example.org:8443/docs", HOST, "https://quire.example.org:8443"),
        ("https://localhost:8443", "localhost", "https://localhost:8443"),
    ] {
        assert_eq!(Site::of(address), Some(Site { host: host.into(), origin: origin.into() }), "{address}");
    }
    for address in [
        "http://quire.example.org",
        "https://127.0.0.1:8443",
        "https://192.168.1.20",
        "https://[::1]:8443",
        "https://[fd00::1]",
        "https://",
        "https://:8443",
        "quire.example.org",
    ] {
        assert_eq!(Site::of(address), None, "{address}");
    }
}
